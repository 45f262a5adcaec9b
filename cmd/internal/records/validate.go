package records

import (
	"context"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/audit"
)

// Validate checks a board and this repository, with the options in the caller's environment.
func Validate(ctx context.Context, c *call.Call, v *gitboard.View) ([]audit.Issue, error) {
	clone, err := c.Board.Clone().ID(ctx)
	if err != nil {
		return nil, err
	}
	leases := map[string]time.Time{}
	held, err := v.Leases(ctx)
	if err != nil {
		return nil, err
	}
	for agent, h := range held {
		leases[agent] = h.Expires.Std()
	}
	return audit.Validate(ctx, v.State, c.Board.Log().Store(), c.Board.Repo(),
		audit.Here{Clone: clone, Leases: leases, Now: c.App.Now(), NoSpecFiles: c.SkipSpecFile()})
}
