package audit

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
)

// Tracked is a repository whose board and integration branch are those of a remote, as this clone
// last fetched them. All other refs are the clone's own.
type Tracked struct {
	*git.Repo
	Remote string

	seen map[string]plumbing.OID // by the name at the remote
}

// Track returns a repository with the board of a remote. It returns log.ErrNoBoard if this clone has
// fetched none.
func Track(ctx context.Context, repo *git.Repo, remote string) (*Tracked, error) {
	t := &Tracked{Repo: repo, Remote: remote, seen: map[string]plumbing.OID{}}
	if err := t.find(ctx, plumbing.BoardRef, "state"); err != nil {
		return nil, err
	}
	tip := t.seen[plumbing.BoardRef]
	if tip.IsZero() {
		return nil, log.ErrNoBoard
	}
	at, err := log.NewReader(repo, "").At(ctx, tip)
	if err != nil {
		return nil, err
	}
	if c := at.State.Config(); c != nil {
		return t, t.find(ctx, plumbing.BranchRef(c.IntegrationBranch), "integration")
	}
	return t, nil // the replay reports the fault
}

// find looks a branch of the remote up. A clone that joined the board keeps it in a tracking ref of
// its own; a plain fetch moves git's. The newer one counts.
func (t *Tracked) find(ctx context.Context, branch, what string) error {
	own, err := t.Repo.Ref(ctx, plumbing.TrackingRef(t.Remote, what))
	if err != nil {
		return err
	}
	fetched, err := t.Repo.Ref(ctx, plumbing.RemoteRef(t.Remote, branch))
	if err != nil {
		return err
	}
	t.seen[branch] = own
	if own.IsZero() || fetched.IsZero() || own == fetched {
		if own.IsZero() {
			t.seen[branch] = fetched
		}
		return nil
	}
	newer, err := t.History().IsAncestor(ctx, own, fetched)
	if err != nil {
		return fmt.Errorf("compare %s and %s: %w", own.Short(), fetched.Short(), err)
	}
	if newer {
		t.seen[branch] = fetched
	}
	return nil
}

// Ref implements log.Store.
func (t *Tracked) Ref(ctx context.Context, name string) (plumbing.OID, error) {
	if oid, tracked := t.seen[name]; tracked {
		return oid.OrZero(), nil
	}
	return t.Repo.Ref(ctx, name)
}

// Refs implements log.Store: submissions include those of the remote.
func (t *Tracked) Refs(ctx context.Context, prefixes ...string) ([]plumbing.Ref, error) {
	for _, p := range prefixes {
		if what, own := strings.CutPrefix(p, plumbing.OwnPrefix); own {
			prefixes = append(prefixes, plumbing.TrackingRef(t.Remote, what))
		}
	}
	return t.Repo.Refs(ctx, prefixes...)
}
