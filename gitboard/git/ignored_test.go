package git

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestIgnored checks that ignored files, but no links, are kept and copied, and replace none.
func TestIgnored(t *testing.T) {
	ctx, r := scratch(t)
	check(t, r.Settings().Exclude("*.env", "made/"))
	for _, name := range []string{"local.env", "b.env", "made/run"} {
		write(t, r, name, name)
	}
	check(t, os.Symlink(t.TempDir(), filepath.Join(r.TopLevel(), "made", "linked")))
	check(t, os.Symlink("local.env", filepath.Join(r.TopLevel(), "link.env")))
	check(t, os.Chmod(filepath.Join(r.TopLevel(), "made", "run"), 0o755))
	w := r.Worktree(r.TopLevel())
	files := must[[]IgnoredFile](t)(w.Ignored(ctx, func(string) bool { return false }))
	kept := must[plumbing.OID](t)(w.KeepIgnored(ctx, files, "m", ada))
	if got := native(t, r.TopLevel(), "ls-tree", "-r", "--format=%(objectmode) %(path)", string(kept)); got != "100644 b.env\n100644 local.env\n100755 made/run" {
		t.Errorf("kept %q", got)
	}
	to := t.TempDir()
	writeIn(t, to, "b.env", "theirs")
	if got := must[[]string](t)(w.CopyIgnored(ctx, to, func(string) bool { return true })); !slices.Equal(got, []string{"local.env", "made/run"}) {
		t.Errorf("copied %q", got)
	}
	for name, perm := range map[string]os.FileMode{"local.env": 0o600, "made/run": 0o700} {
		if info := must[os.FileInfo](t)(os.Stat(filepath.Join(to, name))); info.Mode().Perm() != perm || readIn(t, to, name) != name {
			t.Errorf("%s is copied as %v", name, info.Mode())
		}
	}
	if readIn(t, to, "b.env") != "theirs" {
		t.Error("a file is replaced")
	}
}
