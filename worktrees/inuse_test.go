package worktrees_test

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// TestMergeUnderARebase checks that integration does not move while a human rebases or bisects it:
// the human's git would set it back.
func TestMergeUnderARebase(t *testing.T) {
	for name, c := range map[string]struct{ begin, end []string }{
		"rebase": {[]string{"-c", "sequence.editor=echo break >", "rebase", "-q", "-i", "HEAD"}, []string{"rebase", "--abort"}},
		"bisect": {[]string{"bisect", "start", "HEAD", "HEAD~1"}, []string{"bisect", "reset"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, ready("one"))
			side := t.TempDir() + "/side"
			s.git(s.dir, "worktree", "add", "-q", side, "integration")
			s.git(side, "commit", "-q", "--allow-empty", "-m", "mine")
			s.approved("coder-1", "one", "b.txt", "b\n")
			before := s.ref("refs/heads/integration")
			s.git(side, c.begin...)
			_, err := mergeOne(s.ctx, s.b, merge.TrainRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1")}, Tasks: []string{"one"}})
			s.refused(err, board.CodeCheckedOut, "git "+name)
			if now := s.ref("refs/heads/integration"); now != before {
				t.Errorf("integration is at %s", now)
			}
			s.git(side, c.end...)
			s.merge("one")
		})
	}
}
