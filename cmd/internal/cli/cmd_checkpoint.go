package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/watch"
)

var _ = add(checkpointCommand)

func checkpointCommand() *edge.Command {
	var reason, task string
	return &edge.Command{
		Name: "checkpoint", Group: "human", Max: 0, Writes: true,
		Short: "halt claims, review claims and merges until a human has decided, and write the sprint's summary",
		Long: `A planner may ask for one, too; a human releases it: git liza resume --decision CONTINUE.
With --task it is one task that waits for a human: it is paused.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&reason, "reason", "", "why")
			f.StringVar(&task, "task", "", "this `TASK` only (a human)")
		},
		Example: `git liza checkpoint --reason "the API is complete: does it fit?"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if task != "" {
				return checkpointTask(ctx, c, task, reason)
			}
			done, err := c.Do(ctx, "checkpoint", gitboard.Just(&board.SetCheckpoint{Reason: reason}))
			if err != nil {
				return err
			}
			file, err := watch.KeepSummary(c.Board, done)
			if err != nil {
				return fmt.Errorf("the board is at CHECKPOINT, but its summary could not be kept (git liza sprint show --summary prints it): %w", err)
			}
			return c.Report(done, map[string]any{"summary": file}, "summary: "+file, "a human decides: git liza resume --decision CONTINUE")
		},
	}
}

// checkpointTask makes one task wait for a human.
func checkpointTask(ctx context.Context, c *edge.Call, task, reason string) error {
	if c.AgentID() != "" {
		return board.Refuse(board.CodePermission, "a checkpoint of one task is for a human", "ask one: git liza note --for human TEXT")
	}
	done, err := c.Do(ctx, "pause", gitboard.Just(&board.Pause{About: board.About{Task: task}, Reason: strings.TrimSuffix("checkpoint: "+reason, ": ")}))
	if err != nil {
		return err
	}
	return c.Report(done, nil, "a human decides: git liza show "+task+", then git liza resume --task "+task+" --decision CONTINUE")
}
