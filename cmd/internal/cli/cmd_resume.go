package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/plain"
)

var _ = add(resumeCommand)

func resumeCommand() *edge.Command {
	p := board.Resume{}
	return &edge.Command{
		Name: "resume", Group: "human", Max: 0, Writes: true,
		Short: "let work continue",
		Long: `After a checkpoint the decision goes into the alignment history of the goals that are worked on. REPLAN leaves a note for
the planner of each of them, which wakes it; with --goal of that one alone. STOP ends the run as git liza abort does.
A clone that a file in .liza stops continues when that file is removed.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Task, "task", "", "this `TASK` only")
			f.StringVar(&p.Decision, "decision", "", "after a checkpoint: CONTINUE, ADJUST, REPLAN, PIVOT or STOP")
			f.StringVar(&p.Goal, "goal", "", "the decision is about this `GOAL` only")
			f.StringVar(&p.Reason, "reason", "", "why")
		},
		Example: `git liza resume --decision CONTINUE --reason "the summary is as planned"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if p.Decision == "STOP" {
				return stopHere(ctx, c, &p)
			}
			done, err := c.Do(ctx, "resume", gitboard.Just(&p))
			if err != nil {
				return stoppedByFile(ctx, c, err)
			}
			lines, err := filesThatStop(ctx, c)
			if err != nil {
				return err
			}
			return c.Report(done, nil, lines...)
		},
	}
}

// stopHere carries out the decision STOP: it aborts the run if it was halted.
func stopHere(ctx context.Context, c *edge.Call, p *board.Resume) error {
	if p.Goal != "" {
		return edge.Usage(c.Cmd, "STOP is for the whole run; one goal is given up by git liza goal abort %s", plain.Line(p.Goal, 70))
	}
	if p.Task != "" {
		return edge.Usage(c.Cmd, "STOP is for the whole run; one task is given up by git liza abort --task %s", plain.Line(p.Task, 70))
	}
	done, err := c.Do(ctx, "abort", func(_ context.Context, v *gitboard.View) (board.Payload, []git.RefUpdate, error) {
		if v.State.Control().Mode == board.Running {
			return p, nil, nil // its Check refuses a board that is not halted
		}
		return &board.Abort{Reason: strings.TrimSuffix("checkpoint decision STOP: "+p.Reason, ": ")}, nil, nil
	})
	if err != nil {
		return err
	}
	return c.Report(done, map[string]any{"decision": "STOP"})
}

// stoppedByFile adds to the refusal to resume a running board which file stops this clone.
func stoppedByFile(ctx context.Context, c *edge.Call, err error) error {
	var r *board.Refusal
	if !errors.As(err, &r) || r.Code != board.CodeWrongState || r.Hint != "" {
		return err
	}
	lines, lookErr := filesThatStop(ctx, c)
	if lookErr == nil && len(lines) > 0 {
		r.Hint = strings.Join(lines, "; ")
	}
	return err
}

// filesThatStop lists the files that stop this clone.
func filesThatStop(ctx context.Context, c *edge.Call) ([]string, error) {
	halts, err := c.Board.Halts(ctx)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, h := range halts {
		lines = append(lines, "this clone is stopped by .liza/"+h.File+" until a human takes that file away")
	}
	return lines, nil
}
