package worktrees

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What may hold a lock is git, under any of its names, and no other program whose name begins as git's does.
func TestGitIsKnownByItsName(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("only /proc tells who runs")
	}
	for name, want := range map[string]bool{"git": true, "git-receive-pack": true, "git-liza": false, "gitk": false, "gitboard.test": false, "sh": false} {
		program := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(program, []byte("#!/bin/sh\nread line\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, is := gitProcess(fmt.Sprintf("/proc/%d", cmd.Process.Pid)); is != want {
			t.Errorf("%s: %v", name, is)
		}
		in.Close()
		_ = cmd.Wait() // at the end of its input
	}
}
