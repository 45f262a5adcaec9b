package git

import (
	"errors"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestAmbiguous checks that a name that several refs have, or a ref and an abbreviated commit, names
// no commit: git would choose a tag, and anybody who may push can make one.
func TestAmbiguous(t *testing.T) {
	ctx, r := scratch(t)
	run := func(args ...string) string { return strings.TrimSpace(native(t, r.TopLevel(), args...)) }
	first := run("rev-parse", "HEAD")
	run("branch", "-M", "main")
	run("branch", "same")
	run("tag", "-a", "-m", "same", "same") // an object of its own that leads to the same commit
	run("tag", "only")
	run("commit", "-q", "--allow-empty", "-m", "second")
	second := run("rev-parse", "HEAD")
	short := second[:10]
	for _, name := range []string{"main", "origin/main", short, "HEAD", "FETCH_HEAD", "heads/main"} {
		run("update-ref", "refs/tags/"+name, first)
	}
	run("update-ref", "refs/remotes/origin/main", second)
	run("update-ref", "FETCH_HEAD", second)
	for rev, want := range map[string]string{
		"main": "refs/tags/main refs/heads/main", "main~0": "refs/tags/main refs/heads/main", "main^{commit}": "refs/tags/main refs/heads/main",
		"main@{0}": "refs/tags/main refs/heads/main", "origin/main": "refs/tags/origin/main refs/remotes/origin/main",
		short:  "refs/tags/" + short + " " + second,
		"same": "", "only": "", "only~0": "", first: "", first[:10]: "", second[:12]: "",
		"HEAD": "", "HEAD~1": "", "FETCH_HEAD": "", "heads/main": "", "refs/heads/main": "", "@": "", "@~1": "", "tags/main": "",
	} {
		oid, err := r.ResolveCommit(ctx, rev)
		if several := (*AmbiguousError)(nil); want == "" {
			if err != nil || oid == "" {
				t.Errorf("%s: %q, %v", rev, oid, err)
			}
		} else if !errors.As(err, &several) || oid != "" || strings.Join(several.Names, " ") != want {
			t.Errorf("%s: %q, %v; not among %s", rev, oid, err, want)
		}
	}
	for rev, want := range map[string]string{"HEAD": second, "heads/main": second, "FETCH_HEAD": second, "tags/main": first} {
		if oid, err := r.ResolveCommit(ctx, rev); err != nil || oid != plumbing.OID(want) {
			t.Errorf("%s: %s, %v", rev, oid, err)
		}
	}
}
