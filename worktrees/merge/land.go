package merge

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/worktrees"
)

// LandRequest moves integration forward to a human's commit.
type LandRequest struct {
	gitboard.Request
	Commit string // any revision
	Reason string
}

// Land moves integration forward to a commit, in one transaction with the board. Only a fast-forward is
// one; and no checkout of integration may have changes in the way.
func Land(ctx context.Context, b *gitboard.Board, r LandRequest) (*Landing, error) {
	done, err := b.Lookup(ctx, r.Request)
	if err != nil {
		return nil, err
	}
	if done != nil {
		p, is := done.Op.Payload.(*board.Land)
		if !is {
			return nil, board.Refuse(board.CodeExists, fmt.Sprintf("the request %s was carried out before, as %s", r.ID, done.Op.Name()), "use another request id")
		}
		return &Landing{Done: done, Commit: git.OID(p.Commit)}, nil
	}
	commit, err := b.Repo().ResolveCommit(ctx, r.Commit)
	if errors.Is(err, gitio.ErrNotFound) {
		return nil, board.Refuse(board.CodeInvalid, fmt.Sprintf("%q is not a commit here", plain.Line(r.Commit, 60)), "git log")
	}
	if err != nil {
		return nil, err
	}
	since := b.Moment()
	if _, err := Follow(ctx, b); err != nil {
		return nil, err
	}
	l := &lander{b: b, r: r, since: since, commit: commit}
	return l.land(ctx)
}

type lander struct {
	b      *gitboard.Board
	r      LandRequest
	since  gitboard.Moment // when it was asked for
	commit git.OID

	tops   []string
	before git.OID
}

// decide is the intent: what is to be landed descends from integration as it is, and nothing is in the
// way.
func (l *lander) decide(ctx context.Context, v *gitboard.View) (board.Payload, []git.RefUpdate, error) {
	tip, err := l.b.Integration(ctx, v)
	if err != nil {
		return nil, nil, err
	}
	p := &board.Land{Commit: string(l.commit), Before: string(tip), Reason: l.r.Reason}
	if err := v.Plan(ctx, l.r.Request, p); err != nil {
		return nil, nil, err
	}
	ref := v.IntegrationRef()
	forward, err := l.b.Repo().IsAncestor(ctx, tip, l.commit)
	if err != nil {
		return nil, nil, err
	}
	if !forward {
		name := v.State.Config().IntegrationBranch
		return nil, nil, board.Refuse(board.CodeNotForward, fmt.Sprintf("%s does not descend from %s (%s)", l.commit.Short(), name, tip.Short()), "bring it in first: git merge "+name)
	}
	if l.tops, err = following(ctx, l.b, v, tip); err != nil {
		return nil, nil, err
	}
	if err := mayAdvance(ctx, l.b, l.tops, tip, l.commit); err != nil {
		return nil, nil, err
	}
	lease, err := unheld(ctx, l.b)
	if err != nil {
		return nil, nil, err
	}
	l.before = tip
	return p, []git.RefUpdate{{Ref: ref, Old: tip, New: l.commit}, lease}, nil
}

func (l *lander) land(ctx context.Context) (*Landing, error) {
	done, err := l.b.Do(ctx, l.r.Request, l.decide, gitboard.Since(l.since))
	if err != nil {
		return nil, err
	}
	ctx, cancel := worktrees.Steady(ctx)
	defer cancel()
	landed := &Landing{Done: done, Commit: l.commit}
	landed.BroughtForward, landed.Warnings = advance(ctx, l.b, l.tops, l.before, l.commit)
	return landed, nil
}
