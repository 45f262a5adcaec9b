package worktrees_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// TestChildren counts the git processes of the commonest operations, each in a process of its own.
// They are most of an operation's cost, so another process needs a reason.
func TestChildren(t *testing.T) {
	s := newScene(t, ready("one"))
	coder, reviewer := s.as("coder-1"), s.as("code-reviewer-1")
	counted := func(name string, want int, do func(context.Context, *gitboard.Board) error) {
		t.Helper()
		trace := filepath.Join(t.TempDir(), "trace")
		ctx := gitenv.With(s.ctx, append(os.Environ(), "GIT_TRACE2_EVENT="+trace))
		b := testrun.Must(gitboard.Open(ctx, s.dir, gitboard.Options{Now: s.clock.now, Writes: true}))(s.t)
		s.check(do(ctx, b))
		s.check(b.Close())
		text := testrun.Must(os.ReadFile(trace))(s.t)
		var started []string
		for line := range strings.Lines(string(text)) {
			_, sid, start := strings.Cut(line, `{"event":"start","sid":"`)
			sid, _, _ = strings.Cut(sid, `"`)
			if start && !strings.Contains(sid, "/") { // git's own children have their parent's sid as well
				_, argv, _ := strings.Cut(line, `"argv":`)
				started = append(started, argv)
			}
		}
		if len(started) != want {
			t.Errorf("%s starts %d processes, not %d:\n%s", name, len(started), want, strings.Join(started, ""))
		}
	}
	// Each finds the repository (rev-parse), and needs an identity (var) and a transaction of refs
	// (update-ref); what it reads is at hand.
	counted("claim", 3+2, func(ctx context.Context, b *gitboard.Board) error { // worktree add, symbolic-ref
		_, err := worktrees.Claim(ctx, b, worktrees.ClaimRequest{Request: gitboard.Request{Actor: coder}, Task: "one"})
		return err
	})
	commit := s.submitted("coder-1", "one", "b.txt", "b\n")
	s.do(reviewer, &board.ClaimReview{About: about("one")})
	counted("verdict", 3+1, func(ctx context.Context, b *gitboard.Board) error { // status
		_, err := worktrees.Verdict(ctx, b, worktrees.VerdictRequest{
			Request: gitboard.Request{Actor: reviewer}, Task: "one", Commit: string(commit), Verdict: board.VerdictApproved, Checked: "tests",
		})
		return err
	})
	// A merge also reads objects by other names, and sizes (cat-file).
	counted("merge", 5+3, func(ctx context.Context, b *gitboard.Board) error { // status, ls-files, update-ref of the task's branch
		_, err := merge.Train(ctx, b, merge.TrainRequest{Request: gitboard.Request{Actor: reviewer}, Tasks: []string{"one"}})
		return err
	})
}
