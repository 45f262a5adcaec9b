package git

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckoutDetachedOfASparseWorktree checks that a worktree which was made from a sparse one, or
// made sparse later, gets all files of a commit, those that were left out before among them.
func TestCheckoutDetachedOfASparseWorktree(t *testing.T) {
	for name, sparse := range map[string][]string{"patterns": {"set", "--no-cone", "/in/"}, "a sparse index": {"set", "--cone", "--sparse-index", "in"}} {
		t.Run(name, func(t *testing.T) {
			ctx, r := scratch(t)
			for _, file := range []string{"in/a", "out/deep/b", "out/c"} {
				writeIn(t, r.TopLevel(), file, "first\n")
			}
			first := commitAll(t, r, "first")
			writeIn(t, r.TopLevel(), "out/c", "second\n")
			second := commitAll(t, r, "second")
			place := filepath.Join(t.TempDir(), "place")
			check(t, r.Worktree(place).Add(ctx, first))
			is := func(when string, want bool) {
				t.Helper()
				if got := must[bool](t)(r.Worktree(place).Sparse(ctx)); got != want {
					t.Errorf("%s: sparse %v", when, got)
				}
				if !want && (!exists(filepath.Join(place, "out/deep/b")) || strings.Contains(native(t, place, "ls-files", "-t"), "S ")) {
					t.Errorf("%s: files are missing: %s", when, native(t, place, "ls-files", "-t"))
				}
			}
			is("made from a whole one", false)
			native(t, r.TopLevel(), append([]string{"sparse-checkout"}, sparse...)...)
			check(t, r.Worktree(place).Remove(ctx))
			check(t, r.Worktree(place).Add(ctx, first))
			is("made from a sparse one", true)
			check(t, r.Worktree(place).CheckoutDetached(ctx, first))
			is("checked out", false)
			native(t, place, append([]string{"sparse-checkout"}, sparse...)...)
			is("made sparse", true)
			check(t, r.Worktree(place).CheckoutDetached(ctx, second))
			is("checked out again", false)
			if status := native(t, place, "status", "--porcelain"); status != "" {
				t.Errorf("it has changes: %s", status)
			}
			if exists(filepath.Join(r.TopLevel(), "out/deep/b")) {
				t.Error("the main worktree is not sparse any more")
			}
		})
	}
}
