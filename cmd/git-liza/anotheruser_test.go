package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAnotherUsersNotes: what a user's processes remember in a repository only saves time. Another
// user, who may read the repository and not those files, reads the board all the same.
func TestAnotherUsersNotes(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may read every file")
	}
	p := newProject(t)
	p.addTask("alpha")
	reads := [][]string{{"status"}, {"inbox"}, {"doctor"}, {"watch", "--once"}}
	for _, args := range reads {
		p.must("", args...)
	}
	for _, name := range []string{"integration.json", "reported.json"} {
		if err := os.Chmod(filepath.Join(p.dir, ".git", "liza", name), 0); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	for _, args := range reads {
		p.must("", args...)
	}
}
