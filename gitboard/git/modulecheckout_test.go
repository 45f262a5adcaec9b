package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestCheckOutModules checks that submodules which are checked out follow the worktree's commit,
// clean, that one which is not checked out stays so, and that a commit which is nowhere is an error.
func TestCheckOutModules(t *testing.T) {
	ctx, r := scratch(t)
	lib := filepath.Join(t.TempDir(), "lib")
	testrun.InitRepository(t, lib, false)
	writeIn(t, lib, "v", "1\n")
	testrun.CommitAll(t, lib, "1")
	for _, path := range []string{"used", "unused"} {
		native(t, r.TopLevel(), "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, path)
	}
	first := commitAll(t, r, "first")
	writeIn(t, lib, "v", "2\n")
	two := testrun.CommitAll(t, lib, "2")
	writeIn(t, lib, "v", "3\n")
	three := testrun.CommitAll(t, lib, "3") // which no ref of the remote has
	native(t, lib, "reset", "-q", "--hard", two)
	moved := func(to string) {
		native(t, r.TopLevel(), "update-index", "--cacheinfo", "160000,"+to+",used", "--cacheinfo", "160000,"+to+",unused")
		native(t, r.TopLevel(), "commit", "-qm", "moved")
	}
	moved(two)
	second := native(t, r.TopLevel(), "rev-parse", "HEAD")
	moved(three)
	third := native(t, r.TopLevel(), "rev-parse", "HEAD")

	place := filepath.Join(t.TempDir(), "place")
	check(t, r.Worktree(place).Add(ctx, first))
	check(t, r.Worktree(place).CheckOutModules(ctx))
	if exists(filepath.Join(place, "used", "v")) {
		t.Error("a submodule is checked out that was not")
	}
	native(t, place, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "used")
	native(t, filepath.Join(place, "used"), "config", "protocol.file.allow", "always")
	stray := func(when string, want ...string) {
		t.Helper()
		if got := must[[]string](t)(r.Worktree(place).StrayModules(ctx)); !slices.Equal(got, want) {
			t.Errorf("%s: %q", when, got)
		}
	}
	stray("checked out")
	for commit, v := range map[string]string{string(first): "1\n", second: "2\n", third: "3\n"} {
		writeIn(t, place, "used/v", "changed\n")
		writeIn(t, place, "used/left", "left\n")
		check(t, r.Worktree(place).CheckoutDetached(ctx, plumbing.OID(commit)))
		check(t, r.Worktree(place).CheckOutModules(ctx))
		stray(v)
		if got := string(must[[]byte](t)(os.ReadFile(filepath.Join(place, "used/v")))); got != v || exists(filepath.Join(place, "used/left")) || exists(filepath.Join(place, "unused/v")) {
			t.Errorf("it has %q, and should have %q", got, v)
		}
	}
	moved(strings.Repeat("a", 40))
	check(t, r.Worktree(place).CheckoutDetached(ctx, plumbing.OID(native(t, r.TopLevel(), "rev-parse", "HEAD"))))
	stray("at a commit that is nowhere", "used")
	if err := r.Worktree(place).CheckOutModules(ctx); err == nil {
		t.Error("a commit that is nowhere is checked out")
	}
}
