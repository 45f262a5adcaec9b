package call

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/text"
)

// RemoteOf names the remote of the project: the given one, that of a shared board, origin, or the only
// one; "" in a repository without remotes.
func RemoteOf(ctx context.Context, repo *git.Repo, given string) (string, error) {
	remotes, err := repo.Settings().Remotes(ctx)
	if err != nil || given == "" && len(remotes) == 0 {
		return "", err
	}
	if given != "" && !slices.Contains(remotes, given) {
		return "", board.Refuse(board.CodeNoRemote, fmt.Sprintf("there is no remote %q", text.Line(given, 60)), "git remote")
	}
	shared, err := repo.Shared(ctx)
	switch {
	case given != "" || err != nil:
		return given, err
	case shared != nil:
		return shared.Name, nil
	case slices.Contains(remotes, "origin"):
		return "origin", nil
	case len(remotes) == 1:
		return remotes[0], nil
	}
	return "", board.Refuse(board.CodeNoRemote, "several remotes are set, and none is called origin", "name it: --remote NAME; git remote lists them")
}
