package worktrees_test

import "testing"

// TestBornDirty checks that a coder is not blamed for a file that differs from its attributes in
// every fresh checkout, and still is for one that it changed.
func TestBornDirty(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	s.work("one", "old.txt", "a\r\nb\r\n")
	s.work("one", ".gitattributes", "old.txt text\n")
	if s.git(s.path("one"), "checkout", "-q", "HEAD", "--", "old.txt"); s.git(s.path("one"), "status", "--porcelain") == "" {
		s.write(s.path("one"), "old.txt", "a\r\nb\r\n")
	}
	s.submit("coder-1", "one")
}
