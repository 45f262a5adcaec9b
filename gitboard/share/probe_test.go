package share_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

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
	if left := strings.TrimSpace(w.git(w.hub, "for-each-ref", "--format=%(refname)", plumbing.ProbePrefix)); left != young {
		t.Errorf("there are left: %s", left)
	}
}
