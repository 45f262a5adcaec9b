package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(claimReviewCommand)

func claimReviewCommand() *edge.Command {
	return &edge.Command{
		Name: "claim-review", Group: "reviewer", Args: "[ID]", Max: 1, Writes: true,
		Short:   "claim a submission for review",
		Long:    "Without an id: what has the lowest priority number and is oldest.",
		Example: `git liza claim-review login`,
		Run: func(ctx context.Context, c *edge.Call) error {
			done, err := c.Do(ctx, "claim-review", func(ctx context.Context, v *gitboard.View) (board.Payload, []git.RefUpdate, error) {
				id := edge.First(c.Args)
				if id == "" {
					id = board.NextReview(v.State, cmp.Or(c.AgentID(), roles.HumanID), nil, func(holder string, _ board.Brief) bool { return v.Takeable(ctx, holder, 0) })
				}
				if id != "" {
					return &board.ClaimReview{About: board.About{Task: id}}, nil, nil
				}
				if err := v.State.Err(); err != nil {
					return nil, nil, err
				}
				if tasks := v.State.Tasks(); len(tasks) > 0 && v.State.Control().Mode != board.Running {
					return &board.ClaimReview{About: board.About{Task: tasks[0].ID}}, nil, nil // refused by the mode
				}
				return nil, nil, board.Refuse(board.CodeNoWork, "nothing waits for a review", "git liza status")
			})
			if err != nil {
				return err
			}
			t := done.After.Task(done.Op.TaskID())
			if _, err := worktrees.ForReview(ctx, c.Board, done.View, t); err != nil {
				return fmt.Errorf("%s is yours to review, but its worktree could not be made here (git liza review %s tries again): %w", t.ID, t.ID, err)
			}
			return c.Report(done, map[string]any{"review_commit": t.ReviewCommit, "review_base": t.ReviewBase, "author": t.AssignedTo},
				fmt.Sprintf("next: git liza review %s", t.ID))
		},
	}
}
