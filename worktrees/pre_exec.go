package worktrees

import (
	"context"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// PreExec writes a pre-execution checkpoint, with the current tip of the task's branch.
func PreExec(ctx context.Context, b *gitboard.Board, r gitboard.Request, p board.PreExec) (*gitboard.Done, error) {
	return b.Do(ctx, r, func(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		p := p
		head, err := b.Repo().Ref(ctx, v.TaskRef(p.Task))
		if err != nil {
			return nil, nil, err
		}
		if !head.IsZero() {
			p.Head = string(head)
		}
		p.Clock = board.At(b.Now())
		return &p, nil, nil
	})
}
