package audit

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
)

// Push holds the claims of operations that are about to join a board.
type Push struct {
	*Report
	Claims
	State   *board.State // after the last of them
	Unshown []string     // the agents whose claims they take without showing a lease
}

// Claims are the operations' statements about the refs that move with them, oldest first.
type Claims struct {
	Landings    []board.Landing
	Submissions []*board.Submit
}

// add adds what a commit of the board claims.
func (c *Claims) add(l *entry) {
	if l.err != nil || l.opErr != nil {
		return
	}
	if landing := l.op.Landing(); landing != nil {
		c.Landings = append(c.Landings, *landing)
	}
	if submitted, is := l.op.Payload.(*board.Submit); is {
		c.Submissions = append(c.Submissions, submitted)
	}
}

// Examine replays the operations of a range as Verify does, and checks their claims against this
// repository. It refuses violations that Verify would otherwise report forever. integration is the
// future commit of that branch, zero if it is missing. The objects may be in a push's quarantine.
// If the board is new to this repository, its evidence is not checked: others have verified that
// history.
//
// It stops at the first wrong operation, whatever else was pushed. It reads from the board before the
// range, in l, only what is needed, so that the cost of receiving an operation does not grow with the
// board.
func Examine(ctx context.Context, repo *git.Repo, l *log.Reader, r Range, integration plumbing.OID) (*Push, error) {
	p, err := prove(ctx, repo, repo, l, r, nil, nil)
	if err != nil {
		return nil, err
	}
	if !r.From.IsZero() && !repo.Shallow() && p.report.OK() {
		err = p.backed(ctx, repo, integration)
	}
	return &Push{Report: p.report, Claims: p.claims, State: p.state, Unshown: p.unshown}, err
}

// backed is recheck before the refs move. It doesn't check that integration moves with recorded
// landings.
func (p *replay) backed(ctx context.Context, repo *git.Repo, integration plumbing.OID) error {
	missing, err := p.lookUp(ctx, repo)
	if err != nil {
		return err
	}
	var more recounted
	for i, e := range p.evidence {
		if len(missing[i]) > 0 {
			p.lacks(e, missing[i])
			continue
		}
		if e.lands != nil {
			if _, err := p.landed(ctx, repo, &line{}, e); err != nil {
				return err
			}
		}
		more.add(e)
	}
	return p.recount(ctx, repo, &line{tip: integration}, more, missing, true)
}

// Recorded returns the claims of a range that was examined earlier.
func Recorded(ctx context.Context, repo *git.Repo, r Range) (all Claims, err error) {
	chain, err := history(ctx, repo, repo, r)
	if err != nil {
		return all, err
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
	for promise := range batches {
		b := <-promise
		if b.err != nil {
			return all, b.err
		}
		for i := range b.entries {
			all.add(&b.entries[i])
		}
	}
	return all, ctx.Err()
}
