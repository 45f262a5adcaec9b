package git

import (
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/records"
)

// TestIncludedWithin checks where git includes the file: in the repository and its worktrees, and
// not in repositories of submodules, which are others, wherever git keeps them.
func TestIncludedWithin(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	file := filepath.Join(t.TempDir(), "included")
	writeIn(t, filepath.Dir(file), "included", "[liza]\n\ttest = yes\n")
	t.Setenv(gitenv.ParametersVar, gitenv.AddSettings("", gitenv.IncludeWithin(r.CommonDir(), file)...))
	for dir, want := range map[string]string{
		r.TopLevel(): "yes",
		path:         "yes",
		filepath.Join(r.CommonDir(), "modules", "lib"):                   "no",
		filepath.Join(records.LinkedDir(path), "modules", "lib"):         "no",
		filepath.Join(records.LinkedDir(path), "modules", "deep", "lib"): "no",
	} {
		if !exists(dir) {
			native(t, r.TopLevel(), "init", "-q", "--bare", dir)
		}
		if got := native(t, dir, "config", "--default=no", "--get", "liza.test"); got != want {
			t.Errorf("%s: %s, not %s", dir, got, want)
		}
	}
}
