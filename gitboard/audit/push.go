package audit

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/oplog"
)

// Landing is a recorded move of integration.
type Landing struct {
	Commit        gitio.OID // of the board
	Before, After gitio.OID // Before is zero where the operation doesn't say
}

// Push is what operations that are about to join a board say.
type Push struct {
	*Report
	State    *board.State // after the last of them
	Landings []Landing    // the oldest first
}

// Examine replays the operations of a range as Verify does, and holds what they say against what is here: what
// Verify would call a violation afterwards, for ever, is one now. integration is where that branch will be, zero
// when it is not here. The objects may be in a push's quarantine. What a board brings that is here for the first
// time stands in a history that others have verified.
//
// It stops at the first operation that is wrong, whatever else was pushed, and of a few operations it reads of the
// board before them, in log, what they need and no more. So what it costs to receive an operation does not grow with
// the board.
func Examine(ctx context.Context, repo *gitio.Repo, log *oplog.Log, r Range, integration gitio.OID) (*Push, error) {
	p, err := prove(ctx, repo, repo, log, r, nil)
	if err != nil {
		return nil, err
	}
	if !r.From.IsZero() && !repo.Shallow() && p.report.OK() {
		err = p.backed(ctx, repo, integration)
	}
	return &Push{Report: p.report, State: p.state, Landings: p.landings}, err
}

// backed is recheck before the refs have moved. That integration moves with what is said to have landed is not asked
// here.
func (p *replay) backed(ctx context.Context, repo *gitio.Repo, integration gitio.OID) error {
	missing, err := p.lookUp(ctx, repo)
	if err != nil {
		return err
	}
	var submissions []evidence
	for i, e := range p.evidence {
		switch {
		case len(missing[i]) > 0:
			p.lacks(e, missing[i])
			continue
		case e.lands != nil:
			if _, err := p.landed(ctx, repo, &line{}, e); err != nil {
				return err
			}
		}
		if e.handed != nil {
			submissions = append(submissions, e)
		}
	}
	return p.work(ctx, repo, &line{tip: integration}, submissions)
}

// Landings lists the recorded moves of integration in a range that was examined before, the oldest first.
func Landings(ctx context.Context, repo *gitio.Repo, r Range) ([]Landing, error) {
	chain, err := history(ctx, repo, repo, r)
	if err != nil {
		return nil, err
	}
	for i, oid := range chain {
		if oid == r.From {
			chain = chain[i+1:]
			break
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	batches, wait := read(ctx, repo, chain)
	defer wait()
	defer cancel()
	var all []Landing
	for promise := range batches {
		b := <-promise
		if b.err != nil {
			return nil, b.err
		}
		for _, l := range b.links {
			if landing, is := recorded(&l); is {
				all = append(all, landing)
			}
		}
	}
	return all, ctx.Err()
}

// recorded is the move of integration that a commit of the board records, if it does.
func recorded(l *link) (Landing, bool) {
	if l.err != nil || l.opErr != nil {
		return Landing{}, false
	}
	before, after := moved(l.op.Payload)
	return Landing{l.oid, before, after}, !after.IsZero()
}

// moved is the move of integration that an operation records; after is zero for none, before where it isn't said.
func moved(p board.Payload) (before, after gitio.OID) {
	none := gitio.ZeroOID
	switch o := p.(type) {
	case *board.Merge:
		if o.Failure == "" {
			return gitio.OID(o.Before), gitio.OID(o.MergeCommit)
		}
	case *board.FinishMerge:
		return none, gitio.OID(o.MergeCommit)
	case *board.Land:
		return gitio.OID(o.Before), gitio.OID(o.Commit)
	}
	return none, none
}
