package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(abortCommand)

func abortCommand() *edge.Command {
	var reason, task string
	var yes bool
	return &edge.Command{
		Name: "abort", Group: "human", Max: 0, Writes: true,
		Short: "end the run: goal and sprint are given up, the history stays",
		Long: `It asks on a terminal; elsewhere it takes --reason and --yes. With --task one task is given up, whatever its state: work under way is taken from its agent (a block), then the task
is ABANDONED; its work is kept. With --request R these are R/1 and R/2.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&reason, "reason", "", "why")
			f.StringVar(&task, "task", "", "this `TASK` only")
			f.BoolVar(&yes, "yes", false, "do not ask")
		},
		Example: `git liza abort --reason "the goal was withdrawn" --yes`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if task != "" {
				return abortTask(ctx, c, task, reason)
			}
			return c.JustSure(ctx, &board.Abort{Reason: reason}, "this ends the run: goal and sprint are given up, the history stays", reason, yes)
		},
	}
}

// abortTask gives a task up from any status: one that can't be abandoned directly is blocked first.
func abortTask(ctx context.Context, c *edge.Call, task, reason string) error {
	if reason == "" {
		reason = board.HumanOverride
	}
	request := c.Request
	c.Request = numbered(request, 2)
	actor, err := c.WhoActs(ctx, "abort")
	if err != nil {
		return err
	}
	if err := c.SameRequest(ctx, actor, "abandon"); err != nil {
		return err
	}
	blocks, err := needsBlock(ctx, c, actor, task, reason)
	if err != nil {
		return err
	}
	if blocks {
		blocked, err := c.Board.Do(ctx, gitboard.Request{
			Actor: actor, ID: numbered(request, 1), AllowSecret: c.AllowSecret,
		}, gitboard.Just(&board.Block{About: board.About{Task: task}, Reason: reason}),
		)
		if err != nil {
			return err
		}
		if !c.JSON {
			if err := c.Report(blocked, nil); err != nil {
				return err
			}
		}
	}
	return c.End(ctx, actor, &board.Abandon{About: board.About{Task: task}, Reason: reason})
}

// needsBlock reports whether a task has to be blocked before it can be abandoned. It refuses a task
// that could not be abandoned even then, instead of blocking it in vain.
func needsBlock(ctx context.Context, c *edge.Call, actor board.Actor, task, reason string) (bool, error) {
	v, err := c.View(ctx)
	if err != nil {
		return false, err
	}
	t, err := v.State.FindTask(task)
	if err != nil {
		return false, err
	}
	if t.Status.Terminal() || slices.Contains(board.AllowedFrom(t.Status, actor.Role), "abandon") {
		return false, nil // abandon itself reports it
	}
	s := v.State
	about := board.About{Task: task}
	for _, p := range []board.Payload{&board.Block{About: about, Reason: reason}, &board.Abandon{About: about, Reason: reason}} {
		op := board.Operation{Actor: actor, Time: max(board.At(c.App.Now()), s.Time()), Request: "dry", AllowSecret: c.AllowSecret, Payload: p}
		if s, err = board.Step(s, op); err != nil {
			return false, err
		}
	}
	return true, nil
}

// numbered is the request id of a command's nth commit.
func numbered(request string, n int) string {
	if request == "" {
		return ""
	}
	return fmt.Sprintf("%s/%d", request, n)
}
