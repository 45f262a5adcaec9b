package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/definition"
	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/roles"
)

var _ = add(addTaskCommand)

func addTaskCommand() *edge.Command {
	var o definition.Flags
	var id string
	var p board.AddTask
	return &edge.Command{
		Name: "add-task", Group: "planner", Args: "", Max: 0, Writes: true,
		Short: "define a task as DRAFT",
		Long: `With --ready the task is UNCLAIMED at once: a human injects it in one commit, a planner adds and
finalizes it in two (--request R then uses R/1 and R/2).`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&id, "id", "", "lower-case letters, digits and hyphens, like add-auth")
			edge.GoalFlag(f, &p.Goal)
			o.Add(f)
			f.BoolVar(&p.Planned, "planned", false, "counts for the sprint (the usual while one runs)")
			f.BoolVar(&p.Stretch, "stretch", false, "is welcome in the sprint, but does not count")
			f.BoolVar(&p.Ready, "ready", false, "open it to coders at once")
		},
		Example: `git liza add-task --id login --desc "Add POST /login" --spec specs/vision.md#login --done "POST /login answers 200" --scope "IN: api/; OUT: ui/" --depends users --ready`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if id == "" {
				return edge.Usage(c.Cmd, "--id is missing")
			}
			if o.D.Description == "" {
				return edge.Usage(c.Cmd, "--desc is missing")
			}
			p.About, p.Definition, p.NoSpecFile = board.About{Task: id}, o.Definition(), c.SkipSpecFile()
			return runAddTask(ctx, c, &p)
		},
	}
}

func runAddTask(ctx context.Context, c *edge.Call, p *board.AddTask) error {
	request := c.Request
	role, err := c.Role(ctx)
	if err != nil {
		return err
	}
	twoSteps := p.Ready && role == roles.Planner
	if twoSteps {
		p.Ready = false
		if request != "" {
			c.Request = request + "/1"
		}
	}
	done, err := c.Do(ctx, "add-task", func(ctx context.Context, v *gitboard.View) (board.Payload, []git.RefUpdate, error) {
		oid, err := definition.SpecOID(ctx, c, v, p.SpecRef)
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
	if !twoSteps { // the second step reports them
		lines = edge.Prefixed("warning: ", warnings)
	}
	if sp := done.After.Sprint(); sp.Status != board.InProgress && !p.Stretch {
		lines = append(lines, "note: "+sp.ID+" is "+string(sp.Status)+", and stays so")
	}
	if twoSteps {
		if !c.JSON {
			if err := c.Report(done, nil, lines...); err != nil {
				return err
			}
		}
		if request != "" {
			c.Request = request + "/2"
		}
		return definition.Finalize(ctx, c, []string{p.Task}, map[string]any{"added": done.Commit})
	}
	if !p.Ready {
		lines = append(lines, "next: git liza finalize "+p.Task)
	}
	return c.Report(done, map[string]any{"warnings": edge.Every(warnings)}, lines...)
}
