package worktrees

import (
	"context"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// HandOffRequest hands a task over to the next agent of a role.
type HandOffRequest struct {
	gitboard.Request
	HandOff board.HandOff
}

// HandOff hands a task over to the next agent of a role. A coder's worktree must be clean.
func HandOff(ctx context.Context, b *gitboard.Board, r HandOffRequest) (*gitboard.Done, error) {
	if r.Actor.Role != roles.Coder || r.HandOff.Task == "" {
		return b.Do(ctx, r.Request, gitboard.Just(&r.HandOff))
	}
	s, err := Open(ctx, b)
	if err != nil {
		return nil, err
	}
	h := &handing{Project: s, r: r, worktree: &ahead{s: s, task: r.HandOff.Task}}
	return b.Do(ctx, r.Request, h.intent, gitboard.Ahead(h.worktree.begin))
}

// handing is the plan of a coder's hand-off.
type handing struct {
	*Project
	r        HandOffRequest
	worktree *ahead
}

// intent decides the hand-off of the work that worktree has seen.
func (h *handing) intent(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
	p := h.r.HandOff
	t, err := v.State.FindTask(p.Task)
	if err != nil {
		return nil, nil, err
	}
	head, err := h.work(ctx, v, t, h.worktree.get())
	if err != nil {
		return nil, nil, preferRefusal(ctx, v, h.r.Request, &p, err)
	}
	published, err := h.b.Sharing().Publish(ctx, t.ID, head)
	return &p, append(published, plumbing.RefUpdate{Ref: v.TaskRef(t.ID), Old: head, New: head}), err
}
