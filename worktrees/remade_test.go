package worktrees_test

import (
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
)

// TestRemade: commits from before the checkpoint that are made again after the refusal of their
// submission are marked for the reviewer.
func TestRemade(t *testing.T) {
	for name, again := range testrun.Some(2, map[string][]string{
		"rebased":  {"rebase", "--quiet", "--no-ff", "integration"},
		"squashed": {"commit", "--quiet", "--amend", "--reset-author", "--no-edit"},
	}) {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, ready("one"), claimed("coder-1", "one"))
			s.work("one", "b.txt", "b\n")
			r := gitboard.Request{Actor: s.as("coder-1")}
			_, err := worktrees.PreExec(s.ctx, s.b, r, board.PreExec{About: about("one"), Checkpoint: board.Checkpoint{Intent: "i", Validation: "v", FilesToModify: []string{"b.txt"}}})
			s.check(err)
			s.refused(second(s.trySubmit("coder-1", "one")), "checkpoint", "was made before the checkpoint")
			s.clock.pass(time.Minute)
			later := s.clock.now().Format(time.RFC3339)
			s.git(s.path("one"), append([]string{"-c", "alias.then=!GIT_COMMITTER_DATE=" + later + " git", "then"}, again...)...)
			head := s.submit("coder-1", "one")
			e := s.state().Task("one").Last(board.EventReady)
			if strings.Join(e.Remade, " ") != string(head) || e.RefusedAt == "" {
				t.Errorf("%+v", e)
			}
			v := testrun.Must(s.b.View(s.ctx))(s.t)
			sub := testrun.Must(v.Submission(s.ctx, v.State.Task("one")))(s.t)
			if got := strings.Join(sub.Commits, "\n"); !strings.Contains(got, " (remade after the refusal of "+string(e.RefusedAt)+") ") {
				t.Error(got)
			}
		})
	}
}
