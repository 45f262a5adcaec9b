package gitboard

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/remote"
)

// Apart returns an error if the board here and the remote's, as it was last fetched, both have
// operations that the other lacks. It returns nil if they do not, or if the board is not shared.
func (v *View) Apart(ctx context.Context) (*remote.DivergedError, error) {
	name, repo := v.board.Remote(), v.board.Repo()
	if name == "" {
		return nil, nil
	}
	there, err := repo.Ref(ctx, git.TrackingRef(name, "state"))
	if err != nil || there.IsZero() || there == v.Commit {
		return nil, err
	}
	for _, pair := range [][2]git.OID{{there, v.Commit}, {v.Commit, there}} {
		if follows, err := repo.IsAncestor(ctx, pair[0], pair[1]); follows || err != nil {
			return nil, err
		}
	}
	return &remote.DivergedError{Remote: name, Here: v.Commit, There: there}, nil
}
