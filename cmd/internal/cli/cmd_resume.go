package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

func resumeCommand() *command {
	p := board.Resume{}
	return &command{
		name: "resume", group: "human", max: 0, writes: true,
		short: "let work go on",
		long: `After a checkpoint the decision goes into the goal's alignment history. STOP ends the run as git liza abort does.
A clone that a file in .liza stops goes on when that file is taken away.`,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Task, "task", "", "this `TASK` only")
			f.StringVar(&p.Decision, "decision", "", "after a checkpoint: CONTINUE, ADJUST, REPLAN, PIVOT or STOP")
			f.StringVar(&p.Reason, "reason", "", "why")
		},
		run: func(c *call) error {
			if p.Decision == "STOP" {
				return c.stopHere(&p)
			}
			done, err := c.do("resume", gitboard.Just(&p))
			if err != nil {
				return c.stoppedByFile(err)
			}
			lines, err := c.filesThatStop()
			if err != nil {
				return err
			}
			return c.report(done, nil, lines...)
		},
	}
}

// stopHere carries out the decision to stop: the run is aborted, if it was halted.
func (c *call) stopHere(p *board.Resume) error {
	if p.Task != "" {
		return usage(c.cmd, "STOP is for the whole run; one task is given up by git liza abort --task %s", board.Line(p.Task, 70))
	}
	done, err := c.do("abort", func(_ context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
		if v.State.Control().Mode == board.Running {
			return p, nil, nil // its Check says that nothing is halted
		}
		return &board.Abort{Reason: strings.TrimSuffix("checkpoint decision STOP: "+p.Reason, ": ")}, nil, nil
	})
	if err != nil {
		return err
	}
	return c.report(done, map[string]any{"decision": "STOP"})
}

// stoppedByFile adds to the refusal of what runs already which file stops this clone.
func (c *call) stoppedByFile(err error) error {
	var r *board.Refusal
	if !errors.As(err, &r) || r.Code != "wrong-state" || r.Hint != "" {
		return err
	}
	lines, lookErr := c.filesThatStop()
	if lookErr == nil && len(lines) > 0 {
		r.Hint = strings.Join(lines, "; ")
	}
	return err
}

// filesThatStop says which files stop this clone.
func (c *call) filesThatStop() ([]string, error) {
	halts, err := c.opened.Halts(c.ctx)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, h := range halts {
		lines = append(lines, "this clone is stopped by .liza/"+h.File+" until a human takes that file away")
	}
	return lines, nil
}
