package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/roles"
)

func addTaskCommand() *command {
	var o definition
	var id string
	var p board.AddTask
	return &command{
		name: "add-task", group: "planner", args: "", max: 0, writes: true,
		short: "define a task as DRAFT",
		long: `With --ready the task is UNCLAIMED at once: a human injects it in one commit, a planner adds and
finalizes it in two (--request R then uses R/1 and R/2).`,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&id, "id", "", "lower-case letters, digits and hyphens, like add-auth")
			o.add(f)
			f.BoolVar(&p.Planned, "planned", false, "counts for the sprint (the usual while one runs)")
			f.BoolVar(&p.Stretch, "stretch", false, "is welcome in the sprint, but does not count")
			f.BoolVar(&p.Ready, "ready", false, "open it to coders at once")
		},
		run: func(c *call) error {
			if id == "" {
				return usage(c.cmd, "--id is missing")
			}
			if o.d.Description == "" {
				return usage(c.cmd, "--desc is missing")
			}
			p.About, p.Definition, p.NoSpecFile = board.About{Task: id}, o.definition(), c.skipSpecFile()
			return c.runAddTask(&p)
		},
	}
}

func (c *call) runAddTask(p *board.AddTask) error {
	request := c.request
	role, _ := roles.Of(c.agentID())
	twoSteps := p.Ready && role == roles.Planner
	if twoSteps {
		p.Ready = false
		if request != "" {
			c.request = request + "/1"
		}
	}
	done, err := c.do("add-task", func(ctx context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
		oid, err := c.specOID(ctx, v, p.SpecRef)
		if err != nil {
			return nil, nil, err
		}
		with := *p
		if with.Ready {
			with.SpecOID = oid
		}
		return &with, nil, nil
	})
	if err != nil {
		return err
	}
	warnings := board.Warnings(p.Definition)
	var lines []string
	if !twoSteps { // the second tells them
		lines = prefixed("warning: ", warnings)
	}
	if sp := done.After.Sprint(); sp.Status != board.InProgress && !p.Stretch {
		lines = append(lines, "note: "+sp.ID+" is "+string(sp.Status)+", and stays so")
	}
	if twoSteps {
		if !c.json {
			if err := c.report(done, nil, lines...); err != nil {
				return err
			}
		}
		if request != "" {
			c.request = request + "/2"
		}
		return c.runFinalize([]string{p.Task}, map[string]any{"added": done.Commit})
	}
	if !p.Ready {
		lines = append(lines, "next: git liza finalize "+p.Task)
	}
	return c.report(done, map[string]any{"warnings": every(warnings)}, lines...)
}
