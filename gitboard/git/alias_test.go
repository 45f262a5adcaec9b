package git

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestUpdateRefsOfAnAlias checks that a branch which is a symbolic ref is deleted and moved itself,
// and not the branch that it leads to: that is somebody else's.
func TestUpdateRefsOfAnAlias(t *testing.T) {
	ctx, r := scratch(t)
	native(t, r.TopLevel(), "branch", "-M", "main")
	main := must[plumbing.OID](t)(r.ResolveCommit(ctx, "HEAD"))
	native(t, r.TopLevel(), "commit", "-q", "--allow-empty", "-m", "second")
	second := must[plumbing.OID](t)(r.ResolveCommit(ctx, "HEAD"))
	const alias = "refs/heads/task/one"
	for name, c := range map[string]struct{ to, want plumbing.OID }{
		"deleted": {"", plumbing.ZeroOID}, "moved": {main, main},
	} {
		for _, packed := range []bool{false, true} {
			native(t, r.TopLevel(), "symbolic-ref", alias, "refs/heads/main")
			if packed {
				native(t, r.TopLevel(), "pack-refs", "--all")
			}
			check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: alias, Old: second, New: c.to}}, "test"))
			if at := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main")); at != second {
				t.Errorf("%s, packed %v: main is at %s", name, packed, at)
			}
			if at := must[plumbing.OID](t)(r.Ref(ctx, alias)); at != c.want {
				t.Errorf("%s, packed %v: the alias is at %s", name, packed, at)
			}
			native(t, r.TopLevel(), "update-ref", "--no-deref", "-d", alias)
			native(t, r.TopLevel(), "update-ref", "refs/heads/main", string(second))
		}
	}
}
