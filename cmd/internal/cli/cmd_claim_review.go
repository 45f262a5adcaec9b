package cli

import (
	"context"
	"fmt"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/worktrees"
)

func claimReviewCommand() *command {
	return &command{
		name: "claim-review", group: "reviewer", args: "[ID]", max: 1, writes: true,
		short: "take the review of a submission",
		long:  "Without an id: what has the lowest priority number and is oldest.",
		run: func(c *call) error {
			done, err := c.do("claim-review", func(ctx context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
				id := first(c.args)
				if id == "" {
					id = board.NextReview(v.State, c.agentID(), nil, func(holder string, _ board.Brief) bool { return v.Takeable(ctx, holder, 0) })
				}
				if id != "" {
					return &board.ClaimReview{About: board.About{Task: id}}, nil, nil
				}
				if err := v.State.Err(); err != nil {
					return nil, nil, err
				}
				if tasks := v.State.Tasks(); len(tasks) > 0 && v.State.Control().Mode != board.Running {
					return &board.ClaimReview{About: board.About{Task: tasks[0].ID}}, nil, nil // refused, with the mode
				}
				return nil, nil, board.Refuse("no-work", "nothing waits for a review", "git liza status")
			})
			if err != nil {
				return err
			}
			t := done.After.Task(done.Op.TaskID())
			if _, err := worktrees.ForReview(c.ctx, c.opened, done.View, t); err != nil {
				return fmt.Errorf("%s is yours to review, but its worktree could not be made here (git liza review %s tries again): %w", t.ID, t.ID, err)
			}
			return c.report(done, map[string]any{"review_commit": t.ReviewCommit, "review_base": t.ReviewBase, "author": t.AssignedTo},
				fmt.Sprintf("next: git liza review %s", t.ID))
		},
	}
}
