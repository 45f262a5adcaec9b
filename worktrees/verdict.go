package worktrees

import (
	"context"
	"fmt"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// VerdictRequest is a reviewer's word on a submission.
type VerdictRequest struct {
	Actor       board.Actor
	Task        string
	Verdict     string // board.VerdictApproved or board.VerdictRejected
	Commit      string // what was reviewed; may be abbreviated
	Reason      string
	Request     string
	AllowSecret bool
}

// Verdict gives a reviewer's verdict. What is approved must still be what the branch and the worktree
// hold, where they are here; a rejection needs no more than the right commit.
func Verdict(ctx context.Context, b *gitboard.Board, r VerdictRequest) (*gitboard.Done, error) {
	s, err := at(ctx, b)
	if err != nil {
		return nil, err
	}
	request := gitboard.Request{Actor: r.Actor, ID: r.Request, AllowSecret: r.AllowSecret}
	worktree := &ahead{s: s, task: r.Task}
	if r.Verdict == board.VerdictApproved {
		request.Ahead = worktree.begin
	}
	request.Intent = func(ctx context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
		p := &board.Verdict{About: board.About{Task: r.Task}, Verdict: r.Verdict, Commit: r.Commit, Reason: r.Reason}
		t, err := v.State.FindTask(r.Task)
		if err != nil {
			return nil, nil, err
		}
		refs, err := s.judged(ctx, t, p, worktree)
		if err != nil {
			return nil, nil, unless(ctx, b, v, request, p, err)
		}
		return p, refs, nil
	}
	return b.Do(ctx, request)
}

// judged completes the commit of a verdict, and for an approval checks that nothing was changed under the
// reviewer's hands.
func (s *site) judged(ctx context.Context, t *board.Task, p *board.Verdict, worktree *ahead) ([]gitio.RefUpdate, error) {
	commit, err := s.named(ctx, p.Commit, gitio.OID(t.ReviewCommit))
	if err != nil {
		return nil, err
	}
	p.Commit = string(commit)
	if p.Verdict != board.VerdictApproved || p.Commit != t.ReviewCommit {
		return nil, nil
	}
	g := worktree.get()
	if g.err != nil {
		return nil, g.err
	}
	again := fmt.Sprintf("reject it, or let %s submit what is there: git liza show %s", t.AssignedTo, t.ID)
	if g.ours {
		if err := clean(t.ID, g.Checkout, again); err != nil {
			return nil, err
		}
		if g.Head != commit {
			return nil, refusal("stale", t.ID, again, "the worktree of %s is at %s, not at the submitted %s", t.ID, g.Head.Short(), commit.Short())
		}
	}
	tip, err := s.repo.Ref(ctx, Branch(t.ID))
	if err != nil || tip.IsZero() {
		return nil, err
	}
	if tip != commit && t.Clone == s.clone {
		return nil, refusal("stale", t.ID, again, "task/%s is at %s, not at the submitted %s", t.ID, tip.Short(), commit.Short())
	}
	return []gitio.RefUpdate{{Ref: Branch(t.ID), Old: tip, New: tip}}, nil
}
