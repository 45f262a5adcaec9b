package worktrees

import (
	"context"
	"fmt"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// Create makes the worktree of a task again from its branch, and returns its path. If the worktree
// exists, it stays unless fresh is set: then the content of the old one goes to the attic first.
// fresh is the actor who wants a new worktree, which only the task's coder, planners and humans may
// have; nil for none.
func Create(ctx context.Context, b *gitboard.Board, task string, fresh *board.Actor) (string, error) {
	s, err := Open(ctx, b)
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
		before := " before a coder claims it"
		if t.Status.Terminal() {
			before = ""
		}
		return "", refusal(board.CodeWrongState, t.ID, "", "%s is %s: it has no worktree%s", t.ID, t.Status, before)
	}
	if fresh != nil {
		if fresh.Role != roles.Human && fresh.Role != roles.Planner && fresh.ID != t.AssignedTo {
			return "", about(board.CodePermission, t.ID, "%s holds %s, and %s would replace its worktree", t.AssignedTo, t.ID, fresh.ID).
				Advise("%s makes a missing one; a fresh one is for its coder, a planner or a human", board.ActOn("worktree-create", t.ID))
		}
		if _, err := s.WorkTip(ctx, v, t); err != nil {
			return "", err // it has no source
		}
		if err := s.makeRoom(ctx, v, t.ID, *fresh, nil); err != nil {
			return "", fmt.Errorf("put the worktree of %s aside: %w", t.ID, err)
		}
	}
	return s.Ensure(ctx, v, t)
}

// Self is git's identity in this clone, for steps that are not operations.
func (s *Project) Self(ctx context.Context) board.Actor {
	who, err := s.repo.Settings().Identity(ctx)
	if err != nil {
		return itself
	}
	return board.HumanActor(who.Name, who.Email)
}

// itself is the identity of this program, for its own operations.
var itself = board.HumanActor("git liza", "git-liza@liza")
