package cli

import (
	"context"
	"strconv"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(goalPriorityCommand)

func goalPriorityCommand() *edge.Command {
	return &edge.Command{
		Name: "goal priority", Group: "human", Args: "GOAL N", Min: 2, Max: 2, Writes: true,
		Short:   "set how urgent a goal is, from 1 (first) to 5 (last)",
		Long:    "Claims and reviews take the tasks of an urgent goal first, whatever the tasks' own priorities.",
		Example: `git liza goal priority billing 1`,
		Run: func(ctx context.Context, c *edge.Call) error {
			n, err := strconv.Atoi(c.Args[1])
			if err != nil {
				return edge.Usage(c.Cmd, "a priority is a number from 1 to 5, not %q", c.Args[1])
			}
			return c.Just(ctx, &board.GoalPriority{Goal: c.Args[0], Priority: n})
		},
	}
}
