package worktrees

import (
	"context"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// Delete removes the worktree of a BLOCKED, ABANDONED or SUPERSEDED task, after putting its content
// into the attic. The branch of a BLOCKED task stays, since unblock may keep the work. Only
// planners and humans may do this; the board does not change.
func Delete(ctx context.Context, b *gitboard.Board, actor board.Actor, task string) error {
	s, err := Open(ctx, b)
	if err != nil {
		return err
	}
	v, err := b.View(ctx)
	if err != nil {
		return err
	}
	t, err := v.State.FindTask(task)
	if err != nil {
		return err
	}
	if actor.Role != roles.Planner && actor.Role != roles.Human {
		return refusal(board.CodePermission, t.ID, "it takes a planner or a human", "deleting a worktree is not for a %s", actor.Role)
	}
	l, err := s.place(ctx, t.ID, v.TaskBranch(t.ID))
	if err == nil {
		err = l.Blocked(t.ID)
	}
	if err != nil {
		return err
	}
	switch t.Status {
	case board.Blocked:
		return s.clearAway(ctx, v, t.ID, actor, nil)
	case board.Abandoned, board.Superseded:
		return s.Tidy(ctx, v, t.ID, actor)
	}
	r := about(board.CodeWrongState, t.ID, "%s is %s; deleting its worktree needs BLOCKED, ABANDONED or SUPERSEDED", t.ID, t.Status)
	if t.Status == board.Merged {
		return r.Advise("%s takes away what a merge has left", board.ActOn("doctor").With("fix", ""))
	}
	return r.Advise("block, abandon or supersede it first")
}
