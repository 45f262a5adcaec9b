package demo

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestTyped pastes the narration's commands into a shell: their words must arrive unchanged.
func TestTyped(t *testing.T) {
	line := []string{"printf", "%s\\n", "plain", "two words", "it's", `a "b" c`, "$HOME", "back`tick", "Hello!", "--flag", "x|y", "", "specs/vision.md#world"}
	for _, width := range []int{10, 60, 1 << 20} {
		pasted := strings.Join(folded(line, width), "\n      ")
		out, err := exec.Command("sh", "-c", pasted).Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, pasted)
		}
		if got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); !slices.Equal(got, line[2:]) {
			t.Errorf("%s\ngave %q", pasted, got)
		}
	}
}

func TestEnvironment(t *testing.T) {
	env := environment([]string{"GIT_DIR=/x", "LIZA_AGENT_ID=coder-9", "GOFLAGS=-mod=vendor", "PATH=/bin"})
	for _, v := range env {
		if name, _, _ := strings.Cut(v, "="); name == "GIT_DIR" || name == "LIZA_AGENT_ID" || v == "GOFLAGS=-mod=vendor" {
			t.Errorf("%s is left", v)
		}
	}
	if !slices.Contains(env, "PATH=/bin") {
		t.Errorf("PATH is gone: %q", env)
	}
}
