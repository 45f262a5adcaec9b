package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestIncludedWithin checks where git includes the file: in the repository and its worktrees, and
// not in repositories of submodules, which are others, wherever git keeps them.
func TestIncludedWithin(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	file := filepath.Join(t.TempDir(), "included")
	writeIn(t, filepath.Dir(file), "included", "[liza]\n\ttest = yes\n")
	t.Setenv(ParametersVar, WithSettings("", IncludeWithin(r.CommonDir(), file)...))
	for dir, want := range map[string]string{
		r.TopLevel(): "yes",
		path:         "yes",
		filepath.Join(r.CommonDir(), "modules", "lib"):           "no",
		filepath.Join(LinkedDir(path), "modules", "lib"):         "no",
		filepath.Join(LinkedDir(path), "modules", "deep", "lib"): "no",
	} {
		if !exists(dir) {
			native(t, r.TopLevel(), "init", "-q", "--bare", dir)
		}
		if got := native(t, dir, "config", "--default=no", "--get", "liza.test"); got != want {
			t.Errorf("%s: %s, not %s", dir, got, want)
		}
	}
}

// TestWithSettings checks that git reads exactly what WithSettings writes, whatever characters it
// contains, and that these settings override others.
func TestWithSettings(t *testing.T) {
	values := []string{"plain", "", "two words", `it's "quoted" \ and !so`, "a=b", "line\nbreak", "!cd \"./$GIT_PREFIX\" && '/x y/git-liza'"}
	for _, value := range values {
		current := WithSettings("'user.name=Ada'", Setting{"core.hooksPath", "/before"}, Setting{"liza.test", value})
		if again := WithSettings(current, Setting{"liza.test", value}); again != current {
			t.Errorf("added twice: %s", again)
		}
		cmd := exec.Command("git", "config", "--null", "--get", "liza.test")
		cmd.Env = append(os.Environ(), ParametersVar+"="+current, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=liza.test", "GIT_CONFIG_VALUE_0=earlier")
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSuffix(string(out), "\x00"); err != nil || got != value {
			t.Errorf("git reads %q as %q: %v", value, got, err)
		}
	}
}
