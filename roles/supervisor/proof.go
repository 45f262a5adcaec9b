package supervisor

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
)

// proof is what the supervisors of one process have proven of the board's history: each operation
// is replayed once, by the first one that sees it. It does not trust this clone's files.
type proof struct {
	mu     sync.Mutex
	proven []plumbing.OID // the newest last
	logins sync.Map       // by CLI: why its user is not logged in
}

// provenKept is how many proven commits are remembered, for views that are read before another
// supervisor proves a newer one.
const provenKept = 256

// prove replays the operations since the newest proven one; the first time, only the newest one.
func (p *proof) prove(ctx context.Context, b *gitboard.Board, v *gitboard.View) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Contains(p.proven, v.Commit) {
		return nil
	}
	fresh := []plumbing.OID{v.Commit}
	if n := len(p.proven); n > 0 && !slices.Contains(v.Head.Parents, p.proven[n-1]) {
		last := p.proven[n-1]
		var err error
		if fresh, err = b.Repo().History().RevList(ctx, last, v.Commit); err != nil {
			return err
		}
		follows := false
		if len(fresh) > 0 {
			first, err := b.Log().At(ctx, fresh[0])
			if err != nil {
				return err
			}
			follows = slices.Contains(first.Head.Parents, last)
		}
		if !follows {
			return &log.RecordError{Commit: v.Commit, Path: "the history", Err: fmt.Errorf("%s, where the board was, is not in it", last.Short())}
		}
	}
	for _, commit := range fresh {
		if err := b.Log().Replays(ctx, commit); err != nil {
			return err
		}
	}
	p.proven = append(p.proven, fresh...)
	p.proven = p.proven[max(0, len(p.proven)-provenKept):]
	return nil
}
