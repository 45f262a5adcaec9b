package worktrees_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// TestBrokenRefIsNoAnswer checks that a ref whose value can't be read is not taken for a missing
// one: whatever needs it fails, moves no ref, and leaves the worktrees as they are.
func TestBrokenRefIsNoAnswer(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"), ready("three"), approved("coder-3", "three", "c.txt", "c\n"))
	coder, other, reviewer := gitboard.Request{Actor: s.as("coder-1")}, gitboard.Request{Actor: s.as("coder-2")}, gitboard.Request{Actor: s.as("code-reviewer-1")}
	s.checkpoint("coder-1", "one")
	s.work("one", "b.txt", "b\n")
	s.write(s.path("one"), "left.txt", "nowhere else\n")
	v := testrun.Must(s.b.View(s.ctx))(s.t)
	ada := human()
	over := func(task string) *board.Task { // as if it were over
		t := *v.State.Task(task)
		t.Status = board.Abandoned
		return &t
	}
	end := func() error {
		return second(worktrees.End(s.ctx, s.b, coder, &board.Release{About: about("one")}))
	}
	for _, c := range []struct {
		ref   string
		fails map[string]func() error
	}{
		{taskRef("one"), map[string]func() error{
			"end": end,
			"submit": func() error {
				_, _, err := worktrees.Submit(s.ctx, s.b, worktrees.SubmitRequest{Request: coder, Task: "one"})
				return err
			},
			"checkpoint": func() error {
				return second(worktrees.PreExec(s.ctx, s.b, coder, board.PreExec{About: about("one"), Checkpoint: board.Checkpoint{Intent: "i", Validation: "v", FilesToModify: []string{"a.txt"}}}))
			},
			"fresh": func() error { return second(worktrees.Create(s.ctx, s.b, "one", &ada)) },
			"tidy":  func() error { return worktrees.Tidy(s.ctx, s.b, v, ada, "one") },
			"later": func() error {
				_, _, err := worktrees.Later(s.ctx, s.b, v, over("one"))
				return err
			},
		}},
		{taskRef("two"), map[string]func() error{
			"claim": func() error {
				return second(worktrees.Claim(s.ctx, s.b, worktrees.ClaimRequest{Request: other, Task: "two"}))
			},
			"status": func() error { return second(worktrees.StatusOf(s.ctx, s.b, "two")) },
		}},
		{"refs/heads/integration", map[string]func() error{
			"claim": func() error {
				return second(worktrees.Claim(s.ctx, s.b, worktrees.ClaimRequest{Request: other, Task: "two"}))
			},
			"end":      end,
			"status":   func() error { return second(worktrees.StatusOf(s.ctx, s.b, "one")) },
			"tidy":     func() error { return worktrees.Tidy(s.ctx, s.b, v, ada, "one") },
			"diagnose": func() error { return second(merge.Diagnose(s.ctx, s.b, ada)) },
			"finish":   func() error { return second(merge.Finish(s.ctx, s.b, ada)) },
			"merge": func() error {
				return second(merge.Train(s.ctx, s.b, merge.TrainRequest{Request: reviewer, Tasks: []string{"three"}}))
			},
			"merge all": func() error {
				return second(merge.Train(s.ctx, s.b, merge.TrainRequest{Request: reviewer}))
			},
			"retry": func() error { return second(merge.Retry(s.ctx, s.b, reviewer, "three")) },
			"land": func() error {
				return second(merge.Land(s.ctx, s.b, merge.LandRequest{Request: gitboard.Request{Actor: ada}, Commit: "main"}))
			},
		}},
		{plumbing.LeaseRef(plumbing.MergeHolder), map[string]func() error{
			"merge": func() error {
				return second(merge.Train(s.ctx, s.b, merge.TrainRequest{Request: reviewer, Tasks: []string{"three"}}))
			},
			"land": func() error {
				next := s.git(s.dir, "commit-tree", "-m", "next", "-p", "integration", "integration^{tree}")
				return second(merge.Land(s.ctx, s.b, merge.LandRequest{Request: gitboard.Request{Actor: ada}, Commit: next}))
			},
		}},
	} {
		file := filepath.Join(s.b.Repo().CommonDir(), filepath.FromSlash(c.ref))
		was, err := os.ReadFile(file)
		s.breaks(c.ref, "garbage\n")
		before := s.git(s.dir, "for-each-ref")
		for name, do := range c.fails {
			failed := do()
			if broken := (*git.BrokenRefError)(nil); !errors.As(failed, &broken) || broken.Ref != c.ref {
				t.Errorf("%s with a broken %s: %v", name, c.ref, failed)
			}
			if after := s.git(s.dir, "for-each-ref"); after != before {
				t.Errorf("%s with a broken %s: refs\n%s\nwere\n%s", name, c.ref, after, before)
			}
		}
		s.lies("one", "three")
		if s.read(s.path("one"), "left.txt") == "" {
			t.Fatal("uncommitted work is gone")
		}
		s.check(os.Remove(file))
		if err == nil {
			s.check(os.WriteFile(file, was, 0o644))
		}
	}
	s.is("one", board.Claimed)
	s.is("three", board.Approved)
}
