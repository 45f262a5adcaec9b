package gitenv

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestElsewhere checks which variables a program does not get that must find its own repository.
func TestElsewhere(t *testing.T) {
	given := []string{"HOME=/h", "GIT_DIR=x", "GIT_INDEX_FILE=x", "GIT_OBJECT_DIRECTORY=x", "GIT_QUARANTINE_PATH=x",
		"GIT_CEILING_DIRECTORIES=x", "GIT_CONFIG_COUNT=1", "GIT_DIRECTORY=kept"}
	want := []string{"HOME=/h", "GIT_CONFIG_COUNT=1", "GIT_DIRECTORY=kept"}
	testrun.EqualSlices(t, Elsewhere(given), want, "got")
	testrun.EqualSlices(t, List(given).Where(), []string{"GIT_DIR=x"}, "a repository is found by")
}

// TestClean checks that a child gets neither the caller's key nor, outside of a push, a
// quarantine, and writes to no other process's record of a push.
func TestClean(t *testing.T) {
	given := List{"HOME=/h", "GIT_DIR=x", "LIZA_SIGNING_KEY=x", "GIT_OBJECT_DIRECTORY=o", "GIT_TRACE2_EVENT=/c/.git/liza/.push-trace-1"}
	testrun.EqualSlices(t, Clean(given), append([]string{"HOME=/h"}, Quiet...), "got")
	own := "GIT_TRACE2_EVENT=/var/log/push-traces/git"
	if got := Clean(List{own}); !slices.Contains(got, own) {
		t.Errorf("the user's own trace: %v", got)
	}
	quarantine := append(given, "GIT_QUARANTINE_PATH=q")
	if got := Clean(quarantine); !slices.Contains(got, "GIT_OBJECT_DIRECTORY=o") || slices.Contains(got, "GIT_DIR=x") {
		t.Errorf("in a quarantine: %v", got)
	}
}

func TestIncludeWithin(t *testing.T) {
	got := fmt.Sprint(IncludeWithin("/a*b", "/file"))
	if want := `[{includeIf.gitdir:/a\*b.path /file} {includeIf.gitdir:/a\*b/worktrees/*.path /file}]`; got != want {
		t.Errorf("got %s", got)
	}
}

// TestAddSettings checks that git reads exactly what AddSettings writes, whatever characters it
// contains, and that these settings override others.
func TestAddSettings(t *testing.T) {
	values := []string{"plain", "", "two words", `it's "quoted" \ and !so`, "a=b", "line\nbreak", "!cd \"./$GIT_PREFIX\" && '/x y/git-liza'"}
	for _, value := range values {
		current := AddSettings("'user.name=Ada'", Setting{Key: "core.hooksPath", Value: "/before"}, Setting{"liza.test", value})
		testrun.Equal(t, AddSettings(current, Setting{"liza.test", value}), current, "added twice")
		cmd := exec.Command("git", "config", "--null", "--get", "liza.test")
		cmd.Env = append(os.Environ(), ParametersVar+"="+current, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=liza.test", "GIT_CONFIG_VALUE_0=earlier")
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSuffix(string(out), "\x00"); err != nil || got != value {
			t.Errorf("git reads %q as %q: %v", value, got, err)
		}
	}
}
