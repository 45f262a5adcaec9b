package worktrees_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/worktrees"
)

// TestLargeFiles checks that submit and merge both push a submission's git-lfs objects to the
// remote, and that a pointer without its object can't be submitted.
func TestLargeFiles(t *testing.T) {
	if _, err := exec.LookPath("git-lfs"); err != nil {
		t.Skip("git-lfs is not installed here")
	}
	s := newScene(t)
	hub := filepath.Join(t.TempDir(), "hub.git")
	s.git(s.dir, "init", "-q", "--bare", hub)
	s.git(s.dir, "remote", "add", "origin", hub)
	s.git(s.dir, "config", "filter.lfs.clean", "git-lfs clean -- %f")
	s.check(s.b.Share(s.ctx, "origin"))
	s.task("one")
	s.claim("coder-1", "one")
	s.preExec("coder-1", "one")
	path := s.path("one")
	s.write(path, "one_test.txt", "a test\n")
	s.write(path, "art/good.bin", strings.Repeat("large\n", 500))
	s.git(path, "add", ".")
	s.git(path, "commit", "-qm", "large"+s.trailers("one"))
	s.write(path, "lost.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:"+strings.Repeat("b", 64)+"\nsize 12345\n")
	s.git(path, "add", ".")
	s.git(path, "commit", "-qm", "a pointer"+s.trailers("one"))
	_, _, err := worktrees.Submit(s.ctx, s.b, worktrees.SubmitRequest{Request: gitboard.Request{Actor: s.as("coder-1")}, Task: "one"})
	if failed := (*gitio.NetworkError)(nil); !errors.As(err, &failed) || !contains(failed.Error(), "lost.bin") {
		t.Fatalf("a pointer to nothing: %v", err)
	}
	s.git(path, "reset", "-q", "--hard", "HEAD~1")
	s.submit("coder-1", "one")
	there := func() (objects []string) {
		s.check(filepath.WalkDir(filepath.Join(hub, "lfs", "objects"), func(path string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				objects = append(objects, path)
			}
			return err
		}))
		return objects
	}
	if got := there(); len(got) != 1 {
		t.Fatalf("the remote has %q", got)
	}
	s.check(os.Remove(there()[0])) // as if submitted before the board was shared
	s.verdict("code-reviewer-1", "one", board.VerdictApproved)
	s.merge("one")
	if got := there(); len(got) != 1 {
		t.Errorf("the remote has %q", got)
	}
}
