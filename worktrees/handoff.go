package worktrees

import (
	"context"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// HandOffRequest leaves a task to the next coder.
type HandOffRequest struct {
	Actor       board.Actor
	HandOff     board.HandOff
	Request     string
	AllowSecret bool
}

// HandOff leaves a task, in a clean worktree, to the next coder.
func HandOff(ctx context.Context, b *gitboard.Board, r HandOffRequest) (*gitboard.Done, error) {
	s, err := at(ctx, b)
	if err != nil {
		return nil, err
	}
	worktree := &ahead{s: s, task: r.HandOff.Task}
	request := gitboard.Request{Actor: r.Actor, ID: r.Request, AllowSecret: r.AllowSecret, Ahead: worktree.begin}
	request.Intent = func(ctx context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
		p := r.HandOff
		t, err := v.State.FindTask(p.Task)
		if err != nil {
			return nil, nil, err
		}
		head, err := s.work(t, worktree.get())
		if err != nil {
			return nil, nil, unless(ctx, b, v, request, &p, err)
		}
		published, err := b.Publish(ctx, t.ID, head)
		return &p, append(published, gitio.RefUpdate{Ref: Branch(t.ID), Old: head, New: head}), err
	}
	return b.Do(ctx, request)
}
