package worktrees

import (
	"context"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
)

// VerdictRequest is a reviewer's verdict on a submission.
type VerdictRequest struct {
	gitboard.Request
	Task    string
	Verdict string // board.VerdictApproved or board.VerdictRejected
	Commit  string // the reviewed commit; may be abbreviated
	Checked string // what was run
	// Reason is a comment on an approval, or the text of a rejection that is not given as
	// Rejection.
	Reason    string
	Rejection *board.Rejection
}

// Verdict gives a reviewer's verdict. An approved commit must still be the commit of the branch and
// the worktree, if they exist; a rejection needs only the right commit.
func Verdict(ctx context.Context, b *gitboard.Board, r VerdictRequest) (*gitboard.Done, error) {
	s, err := Open(ctx, b)
	if err != nil {
		return nil, err
	}
	var options []gitboard.Option
	worktree := &ahead{s: s, task: r.Task}
	if r.Verdict == board.VerdictApproved {
		options = append(options, gitboard.Ahead(worktree.begin))
	}
	intent := func(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		t, err := v.State.FindTask(r.Task)
		if err != nil {
			return nil, nil, err
		}
		p, err := r.Payload(ctx, b, t)
		if err != nil {
			return nil, nil, err
		}
		refs, err := s.judged(ctx, v, t, p, worktree)
		if err != nil {
			return nil, nil, preferRefusal(ctx, v, r.Request, p, err)
		}
		return p, refs, nil
	}
	return b.Do(ctx, r.Request, intent, options...)
}

// Payload is the verdict on a task as it is now, with the places of its blockers that the submission
// lacks. With comments on lines, a rejection's text may have any form.
func (r VerdictRequest) Payload(ctx context.Context, b *gitboard.Board, t *board.Task) (*board.Verdict, error) {
	p := &board.Verdict{About: board.About{Task: r.Task}, Verdict: r.Verdict, Commit: r.Commit, Reason: r.Reason, Checked: r.Checked, Rejection: r.Rejection}
	if r.Verdict == board.VerdictRejected && r.Rejection == nil {
		parsed, err := board.ParseRejection(r.Reason)
		if err != nil && len(t.OpenComments()) == 0 {
			return nil, err
		}
		if err != nil {
			parsed = board.Rejection{Overall: r.Reason}
		}
		p.Reason, p.Rejection = "", &parsed
	}
	if p.Rejection == nil || len(p.Rejection.Blockers) == 0 || t.Status != board.ReadyForReview {
		return p, nil
	}
	if has, err := b.Sharing().Brings(ctx, t.ReviewCommit); !has {
		return nil, orMissing(err, t)
	}
	var err error
	p.Missing, err = log.Lacking(ctx, b.Repo(), plumbing.OID(t.ReviewCommit), plumbing.OID(t.ReviewBase), p.Rejection)
	return p, err
}

// judged completes the commit of a verdict. For an approval it also checks that nothing changed
// during the review.
func (s *Project) judged(ctx context.Context, v *gitboard.View, t *board.Task, p *board.Verdict, worktree *ahead) ([]plumbing.RefUpdate, error) {
	commit, err := s.named(ctx, p.Commit, plumbing.OID(t.ReviewCommit))
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
	again := board.Advice("reject it, or let %s submit what is there: %s", t.AssignedTo, board.ActOn("show", t.ID))
	if g.Ours {
		if err := clean(v, t.ID, g.Checkout, again); err != nil {
			return nil, err
		}
		if g.Head != commit {
			return nil, about(board.CodeStale, t.ID, "the worktree of %s is at %s, not at the submitted %s", t.ID, g.Head.Short(), commit.Short()).Advise("%s", again)
		}
	}
	tip, err := s.repo.Ref(ctx, v.TaskRef(t.ID))
	if err != nil || tip.IsZero() {
		return nil, err
	}
	if tip != commit && t.Clone == s.Clone {
		return nil, about(board.CodeStale, t.ID, "%s is at %s, not at the submitted %s", v.TaskBranch(t.ID), tip.Short(), commit.Short()).Advise("%s", again)
	}
	return []plumbing.RefUpdate{{Ref: v.TaskRef(t.ID), Old: tip, New: tip}}, nil
}
