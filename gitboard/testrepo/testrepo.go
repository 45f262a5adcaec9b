// Package testrepo makes repositories and clocks for tests, and a store in memory. It is for tests
// alone: the tests of all packages above gitboard/git set up the same environment, and none of them
// depends on its user's settings.
//
// It may import gitboard/git, gitboard/git/plumbing, gitboard/log, gitboard/log/codec and
// gitboard/testrun.
package testrepo

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// Environment removes the user's and the machine's settings of git for the rest of a test, and
// makes Ada the author of commits.
func Environment(t testing.TB) {
	t.Helper()
	for _, entry := range os.Environ() {
		if key, _, _ := strings.Cut(entry, "="); strings.HasPrefix(key, "GIT_") {
			t.Setenv(key, "") // restores it after the test
			os.Unsetenv(key)
		}
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "Ada")
		t.Setenv("GIT_"+who+"_EMAIL", "ada@example.org")
	}
}

// Init sets up Environment, and makes an empty repository in a new directory.
func Init(t testing.TB, bare bool) string {
	t.Helper()
	Environment(t)
	dir := filepath.Join(t.TempDir(), "dépôt à moi")
	testrun.InitRepository(t, dir, bare)
	return dir
}

// Bare opens a new bare repository.
func Bare(t testing.TB) *git.Repo {
	t.Helper()
	repo, err := git.Open(context.Background(), Init(t, true))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	return repo
}

// Copy copies a directory that contains repositories. Absolute paths in their files and symbolic
// links, such as git's between a repository and its worktrees, lead to the copy.
func Copy(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := to + strings.TrimPrefix(path, from)
		info, err := entry.Info()
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return os.MkdirAll(target, info.Mode().Perm())
		case info.Mode()&fs.ModeSymlink != 0:
			at, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(strings.ReplaceAll(at, from, to), target)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, bytes.ReplaceAll(data, []byte(from), []byte(to)), info.Mode().Perm())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Clock is a clock that a test moves.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows a time until it is moved.
func NewClock(at time.Time) *Clock { return &Clock{now: at} }

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Pass moves the clock.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
