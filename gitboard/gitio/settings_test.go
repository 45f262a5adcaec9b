package gitio

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

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
