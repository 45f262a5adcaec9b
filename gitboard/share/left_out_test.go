package share_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/share"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestTornPush: a hub that hides some refs from pushes (receive.hideRefs) moves the board without
// them, in violation of --atomic. Every ref of the push that it has left out is named, also if the
// answer to the push is lost, and if another clone moves the board before anybody looks.
func TestTornPush(t *testing.T) {
	t.Parallel()
	const renewed, submitted, branch = plumbing.LeasePrefix + "coder-1", plumbing.ReviewPrefix + "one/1", plumbing.PublishedPrefix + "one"
	const landed = plumbing.HeadsPrefix + "integration"
	// Another clone moves the board while the hub answers, or the hub's process dies before it does.
	const later = `at=$(git rev-parse refs/heads/liza/state) && git update-ref refs/heads/liza/state $(git commit-tree -p $at -m later $at^{tree})`
	const once = `[ "$1" = committed ] || exit 0; [ -e met ] && exit 0; : >met; `
	const both = once + later + "; kill -9 $PPID"
	const ended = once + later + "; git update-ref -d " + renewed + "; git update-ref -d " + branch + "; kill -9 $PPID"
	for name, c := range map[string]struct {
		hide, hook string
		second     bool // the branch is published again, as what does not follow
		left       string
	}{
		"a lease and a submission":                  {hide: plumbing.OwnPrefix, left: renewed + ", " + submitted},
		"a branch that moves":                       {hide: plumbing.PublishedPrefix, second: true, left: branch},
		"a submission, unheard, another follows":    {hide: plumbing.ReviewPrefix, hook: both, left: submitted},
		"nothing, unheard, and another follows":     {hook: both},
		"nothing, unheard, and the lease has ended": {hook: ended},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			at := w.ref(landed)
			work, earlier := w.commitOn(at, "work"), plumbing.ZeroOID
			if c.second {
				earlier = w.commitOn(at, "earlier")
				w.check(w.publish(plumbing.ZeroOID, earlier))
				work = w.commitOn(earlier, "work")
			}
			if c.hide != "" {
				w.git(w.hub, "config", "receive.hideRefs", c.hide[:len(c.hide)-1])
			}
			if c.hook != "" {
				w.check(testrun.WriteProgram(filepath.Join(w.hub, "hooks", "reference-transaction"), "#!/bin/sh\n"+c.hook+"\n"))
			}
			was := w.there()
			update, object := lease.Renew(nil, leaseOf("a", 0))
			_, err := w.writeWith(w.a, note("torn"), log.Batch{Objects: []plumbing.Object{object}, Refs: []plumbing.RefUpdate{
				update, {Ref: landed, Old: at, New: w.commitOn(at, "landed")}, {Ref: submitted, New: work}, {Ref: w.a.Task("one"), Old: earlier, New: work},
			}})
			torn := (*share.TornError)(nil)
			switch errors.As(err, &torn); {
			case c.left == "" && err != nil:
				t.Errorf("everything is there, and that is told as %v", err)
			case c.left != "" && (torn == nil || torn.Ref != c.left):
				t.Errorf("the hub has moved the board without %s, and that is told as %v", c.left, err)
			}
			if w.there() == was {
				t.Error("the board was not moved: the test shows nothing")
			}
		})
	}
}
