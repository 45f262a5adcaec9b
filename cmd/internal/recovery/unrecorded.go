package recovery

import (
	"context"
	"errors"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/watch"
)

// Unrecorded finds agents' commits on integration that no merge or land records. They are only
// repaired by a human's decision. Approved work from an interrupted merge is another finding, which
// doctor repairs.
func Unrecorded(ctx context.Context, c *call.Call) ([]Finding, error) {
	v, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	strays, err := watch.AllStrays(ctx, c.Board, v)
	if errors.As(err, new(*git.BrokenRefError)) {
		return nil, nil // Repair has reported that ref
	}
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, s := range strays {
		found = append(found, Finding{
			Kind: "unrecorded", Text: s.Text,
			Hint: "let a human look at it (git show " + plumbing.OID(s.Commit).Short() + "): nothing that continues from here can be trusted to be reviewed",
		})
	}
	return found, nil
}
