package server

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/hooks"
)

// unshown refuses an operation that takes over a claim as if its holder had no lease, while the
// holder has one on the server: a clone may have lost sight of it. m is the move of the board.
func (a *arrival) unshown(ctx context.Context, m *hooks.Move) (*board.Refusal, error) {
	if plumbing.OID(m.Now).IsZero() || len(a.push.Unshown) == 0 {
		return nil, nil // the leases of a board that is new here come with it
	}
	for _, holder := range a.push.Unshown {
		ref, err := a.nameHere(ctx, plumbing.LeaseRef(holder))
		if err != nil {
			return nil, err
		}
		at, err := a.repo.Ref(ctx, ref)
		if err != nil {
			return nil, err
		}
		here, err := a.named(ctx, hooks.Move{Ref: ref, New: string(at)})
		if err != nil {
			return nil, err
		}
		lease, err := a.lease(ctx, here)
		if err != nil {
			return nil, err
		}
		if lease != nil && lease.Agent == holder && lease.Session != "" {
			return board.Refusef(board.CodeLease, "%s has a lease here, and what takes over its work says that there is none", holder).Advise("%s, then the same command again", board.ActOn("sync")), nil
		}
	}
	return nil, nil
}
