package merge

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/worktrees"
)

// LandRequest moves integration forward to a human's commit.
type LandRequest struct {
	Actor       board.Actor
	Commit      string // any revision
	Reason      string
	Request     string
	AllowSecret bool
}

// Landed is a move of integration that stands.
type Landed struct {
	Done           *gitboard.Done
	Commit         gitio.OID
	BroughtForward []string // checkouts of integration
	Warnings       []string
}

// Land moves integration forward to a commit, in one transaction with the board. Only a fast-forward is
// one; and no checkout of integration may have changes in the way.
func Land(ctx context.Context, b *gitboard.Board, r LandRequest) (*Landed, error) {
	done, err := worktrees.Repeated(ctx, b, r.Actor, r.Request)
	if err != nil {
		return nil, err
	}
	if done != nil {
		p, is := done.Op.Payload.(*board.Land)
		if !is {
			return nil, board.Refuse("exists", fmt.Sprintf("the request %s was carried out before, as %s", r.Request, done.Op.Name()), "use another request id")
		}
		return &Landed{Done: done, Commit: gitio.OID(p.Commit)}, nil
	}
	commit, err := b.Repo().ResolveCommit(ctx, r.Commit)
	if errors.Is(err, gitio.ErrNotFound) {
		return nil, board.Refuse("invalid", fmt.Sprintf("%q is no commit here", board.Line(r.Commit, 60)), "git log")
	}
	if err != nil {
		return nil, err
	}
	since := b.Moment()
	if _, err := Follow(ctx, b); err != nil {
		return nil, err
	}
	l := &lander{b: b, r: r, since: since, commit: commit}
	v, err := b.View(ctx)
	if err != nil {
		return nil, err
	}
	if _, _, err := l.decide(ctx, v); err != nil {
		return nil, err
	}
	if l.held, err = hold(ctx, b, r.Actor, ""); err != nil {
		return nil, err
	}
	landed, err := l.land(ctx)
	return landed, errors.Join(err, l.held.release(ctx))
}

type lander struct {
	b      *gitboard.Board
	r      LandRequest
	since  gitboard.Moment // when it was asked for
	commit gitio.OID
	held   *holding

	tops   []string
	before gitio.OID
}

func (l *lander) request() gitboard.Request {
	return gitboard.Request{Actor: l.r.Actor, ID: l.r.Request, AllowSecret: l.r.AllowSecret, Since: l.since, Intent: l.decide}
}

// decide is the intent: what is to be landed descends from integration as it is, and nothing is in the
// way.
func (l *lander) decide(ctx context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
	tip, err := l.b.Integration(ctx, v)
	if err != nil {
		return nil, nil, err
	}
	p := &board.Land{Commit: string(l.commit), Before: string(tip), Reason: l.r.Reason}
	if err := l.b.Dry(ctx, v, l.request(), p); err != nil {
		return nil, nil, err
	}
	ref := v.IntegrationRef()
	forward, err := l.b.Repo().IsAncestor(ctx, tip, l.commit)
	if err != nil {
		return nil, nil, err
	}
	if !forward {
		name := v.State.Config().IntegrationBranch
		return nil, nil, board.Refuse("not-forward", fmt.Sprintf("%s does not descend from %s (%s)", l.commit.Short(), name, tip.Short()), "bring it in first: git merge "+name)
	}
	if l.tops, err = following(ctx, l.b, v, tip); err != nil {
		return nil, nil, err
	}
	if err := mayAdvance(ctx, l.b, l.tops, tip, l.commit); err != nil {
		return nil, nil, err
	}
	refs := []gitio.RefUpdate{{Ref: ref, Old: tip, New: l.commit}}
	if l.held != nil {
		lease, err := l.held.giveBack(ctx)
		if err != nil {
			return nil, nil, err
		}
		refs = append(refs, lease)
	}
	l.before = tip
	return p, refs, nil
}

func (l *lander) land(ctx context.Context) (*Landed, error) {
	done, err := l.b.Do(ctx, l.request())
	if err != nil {
		return nil, err
	}
	ctx, cancel := steady(ctx)
	defer cancel()
	landed := &Landed{Done: done, Commit: l.commit}
	landed.BroughtForward, landed.Warnings = advance(ctx, l.b, l.tops, l.before, l.commit)
	return landed, nil
}
