package worktrees_test

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
)

// TestBornDirty checks that a coder is not blamed for a file that differs from its attributes in
// every fresh checkout, and still is for one that it changed.
func TestBornDirty(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	s.work("one", "old.txt", "a\r\nb\r\n")
	s.write(s.path("one"), ".gitattributes", "old.txt text\n")
	s.git(s.path("one"), "add", ".gitattributes")
	s.git(s.path("one"), "commit", "-qm", "attributes"+s.trailers("one"))
	s.write(s.path("one"), "old.txt", "a\r\nc\r\n")
	_, err := s.trySubmit("coder-1", "one")
	s.refused(err, board.CodeDirty, "old.txt")
	s.write(s.path("one"), "old.txt", "a\r\nb\r\n")
	if got := s.git(s.path("one"), "status", "--porcelain"); got != " M old.txt" {
		t.Errorf("git status: %q", got)
	}
	s.submit("coder-1", "one")
}
