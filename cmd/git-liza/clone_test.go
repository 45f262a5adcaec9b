package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestCopiedBoardIsFound: doctor finds the newest board that is there, even if a copy of the
// repository no longer shows which file was written last.
func TestCopiedBoardIsFound(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	for range 4 {
		p.must("", "note", "a word")
	}
	tip := strings.TrimSpace(p.git("rev-parse", "liza/state"))
	kept, err := filepath.Glob(filepath.Join(p.dir, ".git", "liza", "kept", "*"))
	if err != nil || len(kept) < 4 {
		t.Fatalf("%d kept files: %v", len(kept), err)
	}
	age := map[string]time.Time{}
	for _, file := range kept {
		info := testrun.Must(os.Stat(file))(t)
		age[file] = info.ModTime()
	}
	now := time.Now()
	for file, at := range age { // the newest file seems oldest
		reversed := now.Add(-at.Sub(now))
		testrun.Check(t, os.Chtimes(file, reversed, reversed))
	}
	p.git("branch", "-D", "liza/state")
	p.git("update-ref", "-d", "refs/liza/last")
	p.must("", "doctor", "--fix")
	if now := strings.TrimSpace(p.git("rev-parse", "liza/state")); now != tip {
		t.Errorf("the board was at %s, and is at %s", tip, now)
	}
	p.must("", "verify")
}

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
