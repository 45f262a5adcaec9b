package recovery

import (
	"context"
	"fmt"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/worktrees"
)

// Rescue checks first of all whether the whole board is there, and restores what it can. lost means
// that nothing else can be checked.
func Rescue(ctx context.Context, c *edge.Call, fix bool) (found []Finding, lost bool, err error) {
	repo := c.Board.Repo()
	loss, err := audit.FindLoss(ctx, repo)
	if err == nil && loss == nil {
		loss, err = gone(ctx, c)
	}
	if err != nil {
		return nil, false, err
	}
	if loss == nil {
		return forward(ctx, repo, fix)
	}
	f := Finding{Kind: worktrees.DamagedBoard, Text: loss.String()}
	switch repairable := len(loss.Missing) > 0 || !loss.Newest.IsZero(); {
	case !repairable:
		f.Hint = "git fetch --refetch URL liza/state:liza/state, from where it is shared, a clone or a backup that has it" // plain fetches bring no object that a ref seems to have
	case !fix:
		f.Hint = "git liza doctor --fix"
	default:
		if err := loss.Repair(ctx, repo); err != nil {
			f.Error = err.Error()
		} else {
			f.Fixed = true
		}
	}
	return []Finding{f}, !f.Fixed, nil
}

// forward checks whether the board has gone back, and moves it forward again.
func forward(ctx context.Context, repo *gitio.Repo, fix bool) (found []Finding, lost bool, err error) {
	back, err := audit.FindSetBack(ctx, repo)
	if err != nil || back == nil {
		return nil, false, err
	}
	f := Finding{Kind: worktrees.SetBackBoard, Text: back.String()}
	switch {
	case !back.Repairable():
		f.Hint = fmt.Sprintf("stop, and let a human look: git log %s..%s shows what is missing, git log %s..%s what is there instead", back.At.Short(), back.Newest.Short(), back.Newest.Short(), back.At.Short())
	case !fix:
		f.Hint = "git liza doctor --fix"
	default:
		if err := back.Repair(ctx, repo); err != nil {
			f.Error = err.Error()
		} else {
			f.Fixed = true
		}
	}
	return []Finding{f}, !f.Fixed, nil
}

// gone returns the loss of a board of which there are only traces, nil if it is there.
func gone(ctx context.Context, c *edge.Call) (*audit.Loss, error) {
	if tip, err := c.Board.Repo().Ref(ctx, git.BoardRef); err != nil || !tip.IsZero() {
		return nil, err
	}
	if gone, err := c.Board.Gone(ctx); !gone || err != nil {
		return nil, err
	}
	return &audit.Loss{}, nil
}

// ReportLoss is the result of doctor when only the loss could be examined.
func ReportLoss(c *edge.Call, found []Finding) error {
	if c.JSON {
		if err := c.PrintJSON(map[string]any{"problems": found}); err != nil {
			return err
		}
	} else {
		for _, f := range found {
			if err := c.Say(f.String()); err != nil {
				return err
			}
		}
	}
	return &edge.Outcome{Exit: 4, Code: edge.CodeProblems, Message: "the board is damaged"}
}
