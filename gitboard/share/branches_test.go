package share_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/parcel"
	"github.com/git-liza/git-liza/gitboard/retry"
	"github.com/git-liza/git-liza/gitboard/share"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// lease is the lease of coder-1 as a clone sees it after a fetch.
func (c *clone) lease() *lease.Held {
	c.w.t.Helper()
	c.w.check(c.Fetch(c.w.ctx))
	held, err := lease.Read(c.w.ctx, c, "coder-1")
	c.w.check(err)
	return held
}

// leaseOf is a lease of coder-1 that expires n seconds after 1970 began.
func leaseOf(session string, n int) lease.Content {
	at := board.At(time.Unix(int64(n), 0))
	return lease.Content{Lease: board.Lease{Agent: "coder-1", Session: session, Expires: at, Heartbeat: at}}
}

// take makes a lease of a session out of the one that the clone has seen.
func (c *clone) take(was *lease.Held, session string) error {
	update, object := lease.Renew(was, leaseOf(session, c.w.n))
	c.w.n++
	return c.update([]plumbing.Object{object}, update)
}

// TestOnlyBranches: where a host accepts only branches that grow, leases are taken, renewed, lost,
// ended and taken again, each by one clone, and both clones see the same.
func TestOnlyBranches(t *testing.T) {
	t.Parallel()
	w := newWorldBy(t, onlyBranches)
	if w.a.lease() != nil {
		t.Fatal("there is a lease")
	}
	w.check(w.a.take(nil, "a"))
	if err := w.b.take(nil, "b"); !errors.Is(err, git.ErrRefMoved) {
		t.Fatalf("the second takes it with %v", err)
	}
	seen := w.b.lease()
	if seen == nil || seen.Session != "a" || seen.Damaged {
		t.Fatalf("the second sees the lease %+v", seen)
	}
	w.check(w.a.take(w.a.lease(), "a")) // a heartbeat
	testrun.ErrorIs(t, w.b.take(seen, "b"), git.ErrRefMoved, "a lease that was renewed is taken with")
	seen = w.b.lease()
	unchanged := plumbing.RefUpdate{Ref: plumbing.LeaseRef("coder-1"), Old: seen.OID, New: seen.OID}
	w.check(w.b.UpdateRefs(w.ctx, []plumbing.RefUpdate{unchanged, {Ref: w.b.Task("one"), New: w.b.here()}}, ""))
	w.check(w.a.take(w.a.lease(), "a"))
	if err := w.b.UpdateRefs(w.ctx, []plumbing.RefUpdate{unchanged, {Ref: w.b.Task("other"), New: w.b.here()}}, ""); !errors.Is(err, git.ErrRefMoved) {
		t.Errorf("a lease that was renewed passes for unchanged: %v", err)
	}
	w.check(w.b.take(w.b.lease(), "b"))
	w.check(w.b.UpdateRefs(w.ctx, []plumbing.RefUpdate{lease.Fence("coder-1", w.b.lease())}, ""))
	if held := w.a.lease(); held != nil {
		t.Errorf("the lease has ended, and the first sees %+v", held)
	}
	w.must(w.a, note("between"))
	w.check(w.a.take(nil, "c"))
	if held := w.b.lease(); held == nil || held.Session != "c" || held.OID != w.a.lease().OID {
		t.Errorf("the second sees the lease %+v", held)
	}
	for _, ref := range strings.Fields(w.git("", "--git-dir="+w.hub, "for-each-ref", "--format=%(refname)")) {
		if !strings.HasPrefix(ref, plumbing.HeadsPrefix) {
			t.Errorf("the host has %s", ref)
		}
	}
	third := filepath.Join(t.TempDir(), "third")
	w.git("", "clone", "-q", w.hub, third)
	c := w.open(third)
	w.check(c.Join(w.ctx, "origin"))
	w.check(c.Probe(w.ctx, "third"))
	was := w.git("", "--git-dir="+w.hub, "rev-parse", "liza/probe/grows")
	probes := [2]chan error{make(chan error, 1), make(chan error, 1)}
	for i, p := range []*clone{c, w.a} {
		go func() { probes[i] <- p.Probe(w.ctx, fmt.Sprint("at once ", i)) }()
	}
	w.check(errors.Join(<-probes[0], <-probes[1]))
	if left := w.git("", "--git-dir="+w.hub, "for-each-ref", "--format=%(refname)", "refs/heads/liza/probe"); strings.TrimSpace(left) != "refs/heads/liza/probe/grows" {
		t.Errorf("five probes have left\n%s", left)
	}
	w.git("", "--git-dir="+w.hub, "merge-base", "--is-ancestor", strings.TrimSpace(was), "liza/probe/grows")
	if held := c.lease(); held == nil || held.OID != w.a.lease().OID {
		t.Errorf("a clone that joins sees the lease %+v", held)
	}
	testrun.Equal(t, w.git(third, "for-each-ref", "refs/remotes/origin/liza"), "", "a clone that joins has")
	w.end(1)
}

// TestOnlyBranchesForged: a commit that somebody pushed in the place of a lease is a damaged lease,
// which the next one replaces.
func TestOnlyBranchesForged(t *testing.T) {
	t.Parallel()
	w := newWorldBy(t, onlyBranches)
	w.git(w.a.Local().TopLevel(), "push", "-q", "origin", "main:refs/heads/liza/leases/coder-1")
	held := w.b.lease()
	if held == nil || !held.Damaged {
		t.Fatalf("the lease is %+v", held)
	}
	w.check(w.b.take(held, "b"))
	if held := w.a.lease(); held == nil || held.Damaged || held.Session != "b" {
		t.Errorf("the lease is %+v", held)
	}
	w.end(0)
}

// writeFencing appends a note that ends the lease of coder-1, as the clone sees it.
func (w *world) writeFencing(c *clone, held *lease.Held) error {
	w.t.Helper()
	_, err := w.writeWith(c, note("taken over"), log.Batch{Refs: []plumbing.RefUpdate{lease.Fence("coder-1", held)}})
	return err
}

// TestUnseenLease checks that an operation decided without a lease that the remote has is decided
// again, with the lease.
func TestUnseenLease(t *testing.T) {
	t.Parallel()
	for name, update := range testrun.Some(2, map[string]string{"any host": "", "only branches": onlyBranches}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldBy(t, update)
			w.check(w.a.take(nil, "a"))
			was := w.there()
			if err := w.writeFencing(w.b, nil); !lost(err) || w.there() != was {
				t.Errorf("it was not seen, and the take-over ends with %v", err)
			}
			held := testrun.Must(lease.Read(w.ctx, w.b, "coder-1"))(w.t)
			if held == nil || held.Session != "a" {
				t.Fatalf("afterwards it sees the lease %+v", held)
			}
			// It was seen once, and its ref is missing here.
			w.git(w.b.Local().TopLevel(), "update-ref", "-d", plumbing.LeaseRef("coder-1"))
			if err := w.writeFencing(w.b, nil); !lost(err) || w.there() != was {
				t.Errorf("it is missing here, and the take-over ends with %v", err)
			}
			w.check(w.writeFencing(w.b, w.b.lease()))
			w.check(w.writeFencing(w.b, nil)) // and now there is none
			w.end(2)
		})
	}
}

// TestLeaseBeforeBoard checks that a fetch that can't bring a lease does not move the board: a
// claim never shows here without its lease.
func TestLeaseBeforeBoard(t *testing.T) {
	t.Parallel()
	for name, update := range testrun.Some(2, map[string]string{"any host": "", "only branches": onlyBranches}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldBy(t, update)
			w.check(w.a.take(nil, "a"))
			w.must(w.a, note("claimed"))
			b := w.openWith(w.b.Local().TopLevel(), git.Options{Patience: git.Patience{Git: time.Millisecond, Watch: time.Millisecond}})
			was, held := b.here(), w.leaseLock(b)
			ctx, _ := retry.With(w.ctx, 0)
			if err := b.Fetch(ctx); err == nil || b.here() != was {
				t.Errorf("the lease can't move here, and the fetch ends with %v; the board has moved: %v", err, b.here() != was)
			}
			w.check(os.RemoveAll(held))
			w.end(1)
		})
	}
}

// leaseLock keeps git from moving the lease of coder-1 in a clone: a directory has the name of its
// lock, and is not taken for one that a killed git has left.
func (w *world) leaseLock(c *clone) (path string) {
	w.t.Helper()
	path = filepath.Join(c.Local().CommonDir(), plumbing.LeaseRef("coder-1")+".lock")
	w.check(os.MkdirAll(filepath.Join(path, "held"), 0o755))
	return path
}

// published is the commit at which a clone sees the branch of the task one.
func (c *clone) published() plumbing.OID {
	c.w.t.Helper()
	c.w.check(c.Fetch(c.w.ctx))
	_, commit, err := c.Published(c.w.ctx, "one")
	c.w.check(err)
	return commit
}

// replaces publishes a commit in place of the tip that a clone sees, with a note.
func (c *clone) replaces(commit plumbing.OID) {
	c.w.t.Helper()
	seen, _, err := c.Published(c.w.ctx, "one")
	c.w.check(err)
	_, err = c.w.writeWith(c, note("published"), log.Batch{Refs: []plumbing.RefUpdate{{Ref: c.Task("one"), Old: seen, New: commit}}})
	c.w.check(err)
}

// TestReplacedBranches: a host that lets branches only grow, or no branch be deleted or rewound, gets a
// task's rewritten branch all the same, again and again, and both clones see each commit.
func TestReplacedBranches(t *testing.T) {
	t.Parallel()
	for host, update := range testrun.Some(2, map[string]string{"only branches": onlyBranches, "branches stay": ""}) {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			w := newWorldBy(t, update)
			base := w.ref("refs/heads/integration")
			first, anew := w.commitOn(base, "first"), w.commitOn(base, "anew")
			more, further, last := w.commitOn(first, "more"), w.commitOn(anew, "further"), plumbing.ZeroOID
			if update == "" {
				w.git(w.hub, "config", "receive.denyDeletes", "true")
				w.git(w.hub, "config", "receive.denyNonFastForwards", "true")
				last = further // it is told to keep the branch
			}
			for _, step := range []struct {
				name     string
				by       *clone
				to, want plumbing.OID
				bare     bool // the host's branch is the work itself
			}{
				{"published", w.a, first, first, true}, {"grown", w.a, more, more, true}, {"rewritten", w.a, anew, anew, false},
				{"grown anew", w.b, further, further, false}, // by a clone that has only seen it
				{"deleted", w.a, plumbing.ZeroOID, last, false}, {"published anew", w.a, first, first, false},
			} {
				if step.by == w.b {
					w.check(w.b.Local().WriteObjects(w.ctx, []plumbing.Object{testrun.Must(w.a.Local().Object(w.ctx, string(step.to)))(t)}))
				}
				step.by.replaces(step.to)
				if a, b := w.a.published(), w.b.published(); a != step.want || b != step.want {
					t.Errorf("%s: the clones see %s and %s, not %s", step.name, a, b, step.want)
				}
				there := w.git("", "--git-dir="+w.hub, "rev-parse", "refs/heads/liza/task/one")
				testrun.Equal(t, there == string(step.to), step.bare, "%s: the host has %s for %s", step.name, there, step.to)
			}
			for _, kept := range []plumbing.OID{more, further} {
				w.git("", "--git-dir="+w.hub, "merge-base", "--is-ancestor", string(kept), "refs/heads/liza/task/one")
			}
			testrun.Equal(t, w.git(w.a.Local().TopLevel(), "for-each-ref", "refs/remotes/origin/liza"), "", "pushes have left")
			w.end(6)
		})
	}
}

// TestLostThere checks that a remote which has lost the branch of its board is named as such, by
// everything that asks it, and that nobody joins it.
func TestLostThere(t *testing.T) {
	t.Parallel()
	for name, update := range testrun.Some(2, map[string]string{"any host": "", "only branches": onlyBranches}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldBy(t, update)
			w.ctx, _ = retry.With(w.ctx, 0)
			w.git(w.hub, "update-ref", "-d", plumbing.BoardRef)
			another := filepath.Join(filepath.Dir(w.hub), "third")
			w.git("", "clone", "-q", w.hub, another)
			third := w.open(another)
			_, findErr := third.Find(w.ctx)
			for call, err := range map[string]error{
				"Fetch": w.a.Fetch(w.ctx), "FetchAll": w.a.FetchAll(w.ctx), "CheckThere": w.a.CheckThere(w.ctx),
				"Find": findErr, "Join": third.Join(w.ctx, "origin"), "Share": third.Share(w.ctx, "origin", "probe"),
			} {
				if lost := (*share.LostError)(nil); !errors.As(err, &lost) || lost.Remote != "origin" {
					t.Errorf("%s ends with %v", call, err)
				}
			}
		})
	}
}

// TestSequencerSays checks what comes of an operation if the remote that sequences has not taken it
// because others were faster, and if it can't be asked any more.
func TestSequencerSays(t *testing.T) {
	t.Parallel()
	const pkt = `pkt() { printf '%04x%s\n' $((${#1} + 5)) "$1"; }` + "\n"
	overtaken := pkt + fmt.Sprintf(`pkt version=1; printf 0000; pkt "ng %s %s"; printf 0000; cat >/dev/null`, parcel.Ref, parcel.Overtaken)
	for name, c := range map[string]struct {
		hook string
		lost bool
	}{
		"others were faster": {overtaken, true},
		"it dies":            {"rm HEAD; kill -9 $PPID", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.ctx, _ = retry.With(w.ctx, 0)
			for key, value := range map[string]string{"receive.advertisePushOptions": "true", "receive.procReceiveRefs": parcel.Ref} {
				w.git(w.hub, "config", key, value)
			}
			w.git(w.hub, "update-ref", parcel.Ref, "main")
			w.check(w.a.Fetch(w.ctx))
			was := w.there()
			hubHook("proc-receive", c.hook)(w)
			_, err := w.write(w.a, note("mine"))
			if errors.Is(err, git.ErrRefMoved) != c.lost || errors.As(err, new(*log.UnclearError)) == c.lost {
				t.Errorf("it ends with %v", err)
			}
			if !c.lost {
				w.check(os.WriteFile(filepath.Join(w.hub, "HEAD"), []byte("ref: refs/heads/main\n"), 0o644))
			}
			if now := w.there(); now != was {
				t.Errorf("the remote has the board at %s all the same", now.Short())
			}
		})
	}
}

// TestSilentThere checks that a remote that says nothing is asked once, and not what it has lost or
// whether it sequences: each of that would take as long again.
func TestSilentThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	top, asked := w.a.Local().TopLevel(), filepath.Join(t.TempDir(), "asked")
	deaf := filepath.Join(filepath.Dir(asked), "deaf")
	w.check(testrun.WriteProgram(deaf, "#!/bin/sh\necho >>'"+asked+"'\nexec sleep 1000\n"))
	for key, value := range map[string]string{"liza.networkTimeout": "1", "remote.origin.uploadpack": deaf, "remote.origin.receivepack": deaf} {
		w.git(top, "config", key, value)
	}
	retired(w) // it seemed to sequence
	testrun.ErrorIs(t, w.open(top).Fetch(w.ctx), git.ErrSilent, "it ends with")
	// On a slow machine it is given up on before it has said that it was asked.
	if times, _ := os.ReadFile(asked); len(times) > 1 {
		t.Errorf("it was asked %d times", len(times))
	}
}

// TestLooksWhileItPushes checks that a clone that has just lost a race fetches while its next push is
// on its way.
func TestLooksWhileItPushes(t *testing.T) {
	w := newWorld(t)
	w.must(w.b, note("of the other clone"))
	dir := t.TempDir()
	w.check(os.WriteFile(filepath.Join(w.a.Local().CommonDir(), "liza", "last"), []byte(`{"took": 1, "lost": "2100-01-01T00:00:00Z"}`), 0o644))
	for service, before := range map[string]string{
		"upload-pack":  "touch " + dir + "/looked",
		"receive-pack": "for n in $(seq 1000); do [ -e " + dir + "/looked ] && break; sleep 0.01; done; [ -e " + dir + "/looked ] || exit 1",
	} {
		script := filepath.Join(dir, service)
		w.check(testrun.WriteProgram(script, "#!/bin/sh\n"+before+"\nexec git-"+service+" \"$@\"\n"))
		w.git(w.a.Local().TopLevel(), "config", "remote.origin."+strings.ReplaceAll(service, "-", ""), script)
	}
	if _, err := w.write(w.a, note("decided on an old view")); !lost(err) {
		t.Errorf("got %v", err)
	}
	w.end(1)
}

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
		left       string
	}{
		"a lease and a submission":                  {hide: plumbing.OwnPrefix, left: renewed + ", " + submitted},
		"a submission, unheard, another follows":    {hide: plumbing.ReviewPrefix, hook: both, left: submitted},
		"nothing, unheard, and another follows":     {hook: both},
		"nothing, unheard, and the lease has ended": {hook: ended},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			at := w.ref(landed)
			work := w.commitOn(at, "work")
			if c.hide != "" {
				w.git(w.hub, "config", "receive.hideRefs", c.hide[:len(c.hide)-1])
			}
			if c.hook != "" {
				w.check(testrun.WriteProgram(filepath.Join(w.hub, "hooks", "reference-transaction"), "#!/bin/sh\n"+c.hook+"\n"))
			}
			was := w.there()
			update, object := lease.Renew(nil, leaseOf("a", 0))
			_, err := w.writeWith(w.a, note("torn"), log.Batch{Objects: []plumbing.Object{object}, Refs: []plumbing.RefUpdate{
				update, {Ref: landed, Old: at, New: w.commitOn(at, "landed")}, {Ref: submitted, New: work}, {Ref: w.a.Task("one"), New: work},
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

// TestForgedBranches: names of branches that no board can have, which somebody has written into the
// settings of a remote's board, are refused by a clone that joins it, before git's settings have
// them: a plain fetch works as before.
func TestForgedBranches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	forger := filepath.Join(t.TempDir(), "forger")
	w.git("", "clone", "-q", "-b", "liza/state", w.hub, forger)
	config := testrun.Must(os.ReadFile(filepath.Join(forger, "config.yaml")))(w.t)
	dir := t.TempDir()
	for forged, name := range map[string]string{
		"integration_branch: ../../config": "leads elsewhere", `integration_branch: "*"`: "all branches",
		"task_branch_prefix: integration/": "prefix below integration",
	} {
		key, _, _ := strings.Cut(forged, ":")
		lines := strings.Split(string(config), "\n")
		for i, line := range lines {
			if strings.HasPrefix(line, key+":") {
				lines[i] = forged
			}
		}
		w.check(os.WriteFile(filepath.Join(forger, "config.yaml"), []byte(strings.Join(lines, "\n")), 0o644))
		w.git(forger, "commit", "-qam", "forged")
		w.git(forger, "push", "-q", "origin", "HEAD:liza/state")
		dir := filepath.Join(dir, name)
		w.git("", "clone", "-q", w.hub, dir)
		before := w.git(dir, "config", "--local", "--list")
		if err := w.open(dir).Join(w.ctx, "origin"); !errors.As(err, new(*log.RecordError)) {
			t.Errorf("%s: a clone joins with %v", name, err)
		}
		testrun.Equal(t, w.git(dir, "config", "--local", "--list"), before, "%s: git's settings have become", name)
		w.git(dir, "fetch", "-q")
	}
}

// TestLeftProbe: what a killed probe left at the remote is deleted by a probe of a later day, and a
// ref of another clone's probe is left alone.
func TestLeftProbe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	main := w.git(w.hub, "rev-parse", "main")
	young := fmt.Sprintf("%s%d-other", plumbing.ProbePrefix, time.Now().Add(-time.Hour).Unix())
	old := fmt.Sprintf("%s%d-killed", plumbing.ProbePrefix, time.Now().Add(-25*time.Hour).Unix())
	for _, ref := range []string{young, old, plumbing.ProbePrefix + "stray"} {
		w.git(w.hub, "update-ref", ref, strings.TrimSpace(main))
	}
	w.check(w.a.Probe(w.ctx, "next"))
	testrun.Equal(t, strings.TrimSpace(w.git(w.hub, "for-each-ref", "--format=%(refname)", plumbing.ProbePrefix)), young, "there are left")
}
