package gitio

import (
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestCheckoutDetachedCleans checks that a checkout leaves nothing that git does not ignore, not even
// repositories, and everything that it ignores.
func TestCheckoutDetachedCleans(t *testing.T) {
	ctx, r := scratch(t)
	writeIn(t, r.TopLevel(), ".gitignore", "cache/\n")
	head := commitAll(t, r, "first")
	place := filepath.Join(t.TempDir(), "place")
	check(t, r.AddWorktree(ctx, place, head))
	for _, path := range []string{"fixture", "deep/fixture", "cache/fixture"} {
		testrun.InitRepository(t, filepath.Join(place, path), false)
		writeIn(t, filepath.Join(place, path), "file", "text")
	}
	check(t, r.CheckoutDetached(ctx, place, head))
	for path, want := range map[string]bool{"fixture": false, "deep": false, "cache/fixture/file": true, ".gitignore": true} {
		if exists(filepath.Join(place, path)) != want {
			t.Errorf("%s exists: %v", path, !want)
		}
	}
}
