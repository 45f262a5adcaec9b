package worktrees

import (
	"context"
	"fmt"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

// Create makes the worktree of a task again from its branch, and returns its path. When there is one
// nothing happens, unless it's to be fresh: then what the old one holds goes to the attic first.
func Create(ctx context.Context, b *gitboard.Board, task string, fresh bool) (string, error) {
	s, err := at(ctx, b)
	if err != nil {
		return "", err
	}
	if err := s.needFiles("a worktree"); err != nil {
		return "", err
	}
	v, err := b.View(ctx)
	if err != nil {
		return "", err
	}
	t, err := v.State.FindTask(task)
	if err != nil {
		return "", err
	}
	if t.Worktree == "" {
		return "", refusal("wrong-state", t.ID, "git liza claim "+t.ID, "%s is %s: it has no worktree", t.ID, t.Status)
	}
	if fresh {
		if _, err := s.workTip(ctx, t); err != nil {
			return "", err // nothing to make it from
		}
		if err := s.clearAway(ctx, v, t.ID, s.self(ctx), nil); err != nil {
			return "", fmt.Errorf("put the worktree of %s aside: %w", t.ID, err)
		}
	}
	return s.ensure(ctx, v, t)
}

// self is whoever git knows here, for steps that are no operation.
func (s *site) self(ctx context.Context) board.Actor {
	who, err := s.repo.Identity(ctx)
	if err != nil {
		return board.HumanActor("git liza", "git-liza@liza")
	}
	return board.HumanActor(who.Name, who.Email)
}
