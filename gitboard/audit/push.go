package audit

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// Landing is a recorded move of integration.
type Landing struct {
	Commit        gitio.OID // of the board
	Before, After gitio.OID // Before is zero where the operation doesn't say
}

// Push is what operations that are about to join a board say.
type Push struct {
	*Report
	State     *board.State // after the last of them
	Submitted []gitio.OID  // commits that were handed to review
}

// Examine replays the operations of a range as Verify does, and does not hold them against the repository,
// whose refs have not moved yet. The objects may be in a push's quarantine.
func Examine(ctx context.Context, repo *gitio.Repo, r Range) (*Push, error) {
	p, err := prove(ctx, repo, repo, r, nil)
	if err != nil {
		return nil, err
	}
	push := &Push{Report: p.report, State: p.state}
	for _, e := range p.evidence {
		if e.handed != nil {
			push.Submitted = append(push.Submitted, e.handed.commit)
		}
	}
	return push, nil
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
			if l.err == nil && l.opErr == nil {
				if before, after := moved(l.op.Payload); !after.IsZero() {
					all = append(all, Landing{l.oid, before, after})
				}
			}
		}
	}
	return all, ctx.Err()
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
