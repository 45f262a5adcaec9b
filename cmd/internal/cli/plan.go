package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/acts"
	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/definition"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
)

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "plan", Group: "human", Max: 0, Reads: true,
		Short: "show all drafts on one page, with their dependencies and faults",
		Long: `The number before a task says how many tasks have to be over, one after the other, before it can begin. What is
worth a second look is a warning.`,
		Example: `git liza plan`,
		Run: viewing(func(ctx context.Context, c *call.Call, v *gitboard.View) error {
			_, noSpec, err := v.NoSpec(ctx)
			drafts := report.Drafts(v.State, report.Unfinalized(v.State), noSpec)
			if err = errors.Join(err, v.State.Err()); err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(map[string]any{"drafts": drafts})
			}
			return call.PrintDated(ctx, c, screen.Plan(c.Page(), drafts))
		}),
	}
})

var _ = add(func() *call.Command {
	var o definition.Flags
	var id, file string
	var p board.AddTask
	return &call.Command{
		Name: "add-task", Group: "planner", Args: "", Max: 0, Writes: true,
		Short: "define a task as DRAFT",
		Long: `With --ready the task is UNCLAIMED at once: a human injects it in one commit, a planner adds and
finalizes it in two. Several tasks are a YAML list in a file, each with id and the fields of its record: they are added together,
or none is. With several commits, --request R uses R/1, R/2 and so on.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&id, "id", "", "lower-case letters, digits and hyphens, like add-auth")
			call.GoalFlag(f, &p.Goal)
			o.Add(f)
			f.BoolVar(&p.Planned, "planned", false, "counts for the sprint (the usual while one runs)")
			f.BoolVar(&p.Stretch, "stretch", false, "is welcome in the sprint, but does not count")
			f.BoolVar(&p.Ready, "ready", false, "open it to coders at once")
			f.StringVar(&file, "file", "", "a `FILE` with several tasks, instead of the flags that define one")
		},
		Example: `git liza add-task --id login --desc "Add POST /login" --spec specs/vision.md#login --done "POST /login answers 200" --scope "IN: api/; OUT: ui/" --depends users --ready`,
		Run: func(ctx context.Context, c *call.Call) error {
			p.NoSpecFile = c.App.SkipSpecFile()
			switch {
			case file != "" && (id != "" || len(o.Set()) > 0):
				return call.Usage(c.Cmd, "--file goes without --id and without the flags that define a task")
			case file != "":
				tasks, err := definition.Tasks(c, file, p)
				if err != nil {
					return err
				}
				return addTasks(ctx, c, tasks)
			case id == "":
				return call.Usage(c.Cmd, "--id is missing")
			case o.D.Description == "":
				return call.Usage(c.Cmd, "--desc is missing")
			}
			p.About, p.Definition = board.About{Task: id}, o.Definition()
			return addTasks(ctx, c, []board.AddTask{p})
		},
	}
})

// addTasks adds tasks, and finalizes a planner's tasks with --ready, in one transaction.
func addTasks(ctx context.Context, c *call.Call, tasks []board.AddTask) error {
	role, err := c.Role(ctx)
	if err != nil {
		return err
	}
	finalized, absent := tasks[0].Ready && role == roles.Planner, map[string]bool{}
	if finalized || len(tasks) > 1 {
		c.Request = call.Numbered(c.Request, 1)
	}
	all, err := c.Together(ctx, "add-task", func(ctx context.Context, v *gitboard.View) (adds []board.Payload, _ error) {
		var finalizes []board.Payload
		for _, with := range tasks {
			oid, err := definition.SpecOID(ctx, c, v, with.SpecRef)
			if err != nil {
				return nil, err
			}
			absent[with.Task] = oid == "" && with.SpecRef != "" && !with.NoSpecFile
			if with.Ready = with.Ready && !finalized; with.Ready {
				with.SpecOID = oid
			}
			adds = append(adds, &with)
			if finalized {
				finalizes = append(finalizes, &board.Finalize{About: with.About, SpecOID: oid, NoSpecFile: with.NoSpecFile})
			}
		}
		return append(adds, finalizes...), nil
	})
	if err != nil {
		return err
	}
	if len(tasks) > 1 {
		return definition.ReportEach(c, all, true, absent, nil)
	}
	first, done := all[0], all[len(all)-1]
	warnings, next := definition.Added(&tasks[0], absent[tasks[0].Task])
	fields, lines := map[string]any{"warnings": call.Every(warnings)}, call.Prefixed("warning: ", warnings)
	if sp := first.After.Sprint(); sp.Status != board.InProgress && !tasks[0].Stretch {
		lines = append(lines, "note: "+sp.ID+" is "+string(sp.Status)+", and stays so")
	}
	switch {
	case finalized && c.JSON:
		fields["added"] = first.Commit
	case finalized:
		if err := c.Report(first, nil); err != nil {
			return err
		}
	case !tasks[0].Ready:
		lines = append(lines, "next: "+cmdline.Of(next))
	}
	return c.Report(done, fields, lines...)
}

var _ = add(func() *call.Command {
	var all bool
	return &call.Command{
		Name: "finalize", Group: "planner", Args: "[ID...]", Min: 0, Max: -1, Writes: true,
		Short: "make DRAFT tasks claimable, if they pass every gate",
		Long: `Where plans are reviewed (plan_review of git liza team show), a planner's finalize proposes a draft: it stays DRAFT
until the reviewer, or a human, finalizes it or sends it back with git liza reject-draft.

Each task is one commit, and several travel in one push; --request R then uses R/1, R/2 and so on, and JSON lists them as operations.
--all is for every draft, or for those that are proposed if there are any; the first that a gate refuses ends it.`,
		Example: `git liza finalize login users`,
		Flags:   func(f *pflag.FlagSet) { f.BoolVar(&all, "all", false, "every draft that waits for you") },
		Run: func(ctx context.Context, c *call.Call) error {
			switch {
			case all && (len(c.Args) > 0 || c.Request != ""):
				return call.Usage(c.Cmd, "--all goes without IDs and without --request")
			case all:
				return finalizeAll(ctx, c)
			case len(c.Args) == 0:
				return call.Usage(c.Cmd, "finalize needs ID..., or --all")
			}
			return definition.Finalize(ctx, c, c.Args)
		},
	}
})

func finalizeAll(ctx context.Context, c *call.Call) error {
	v, err := c.View(ctx)
	if err != nil {
		return err
	}
	who, err := c.CallerOn(ctx, v)
	if err != nil {
		return err
	}
	drafts := report.ToFinalize(v.State, who.Actor)
	if err := v.State.Err(); err != nil {
		return err
	}
	if len(drafts) == 0 {
		return board.Refuse(board.CodeWrongState, "no DRAFT waits for you", "git liza plan")
	}
	return definition.Finalize(ctx, c, drafts)
}

var _ = add(func() *call.Command {
	var reason string
	return &call.Command{
		Name: "reject-draft", Group: "planner", Args: "ID...", Min: 1, Max: -1, Writes: true,
		Short: "send drafts that wait for the review of the plan back to their planner",
		Long: `For agents that review plans (plan_review of git liza team show), and for humans. The planner is woken and told the reason,
changes the draft, and proposes it again. git liza finalize is the approval.`,
		Example: `git liza reject-draft login users --reason "login and users rewrite the same files: cut along the forms"`,
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "the required change and its reason") },
		Run:     func(ctx context.Context, c *call.Call) error { return definition.RejectDrafts(ctx, c, c.Args, reason) },
	}
})

var _ = add(func() *call.Command {
	var o definition.Flags
	var reason, addDone string
	planned := false
	return &call.Command{
		Name: "amend-task", Group: "planner", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short: "change a task's definition; the old one stays in its history",
		Flags: func(f *pflag.FlagSet) {
			o.Add(f)
			f.StringVar(&addDone, "add-done", "", "what else can be observed; comes after what --done says")
			f.BoolVar(&planned, "planned", false, "it counts for the sprint, though it was stretch or outside")
			f.StringVar(&reason, "reason", "", "why; needed unless the task is DRAFT")
		},
		Example: `git liza amend-task login --priority 1 --reason "the next sprint needs it"`,
		Run: func(ctx context.Context, c *call.Call) error {
			set := o.Set()
			switch {
			case addDone != "" && slices.Contains(set, "done_when"):
				return call.Usage(c.Cmd, "--done replaces the criteria, --add-done adds to them: give one of them")
			case addDone == "" && len(set) == 0 && !planned:
				return call.Usage(c.Cmd, "nothing is named to change")
			}
			return c.Show(acts.Amend(ctx, c, c.Args[0], o.Definition(), set, planned, addDone, reason))
		},
	}
})

var _ = add(func() *call.Command {
	var by []string
	var reason string
	return &call.Command{
		Name: "supersede", Group: "planner", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short: "replace a task by others; its work is kept",
		Flags: func(f *pflag.FlagSet) {
			call.ListFlag(f, &by, "by", "`IDS` of the tasks that replace it, with commas or repeated")
			f.StringVar(&reason, "reason", "", "the root cause, in a sentence at least")
		},
		Example: `git liza supersede login --by login-form,login-api --reason "It was two tasks: form and API share no code"`,
		Run: func(ctx context.Context, c *call.Call) error {
			return c.Show(c.Ending(ctx, &board.Supersede{About: board.About{Task: c.Args[0]}, By: by, Reason: reason}))
		},
	}
})

var _ = add(func() *call.Command {
	var reason string
	return &call.Command{
		Name: "abandon", Group: "planner", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short:   "give up a task; its work is kept",
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "why") },
		Example: `git liza abandon login --reason "superseded by the new sign-in service"`,
		Run: func(ctx context.Context, c *call.Call) error {
			return c.Show(c.Ending(ctx, &board.Abandon{About: board.About{Task: c.Args[0]}, Reason: reason}))
		},
	}
})

var _ = add(func() *call.Command {
	p := board.RecordSpecChange{}
	return &call.Command{
		Name: "spec-change", Group: "planner", Max: 0, Writes: true,
		Short: "record that a specification changed",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Spec, "spec", "", "the `FILE` with #anchor, if any")
			f.StringVar(&p.Change, "change", "", "what changed")
			f.StringVar(&p.TriggeredBy, "triggered-by", "", "the `TASK` that led to it")
			call.AboutFlag(f, &p.Goal)
		},
		Example: `git liza spec-change --spec specs/vision.md#login --change "Passwords have 12 characters or more" --triggered-by login`,
		Run: func(ctx context.Context, c *call.Call) error {
			done, err := c.Do(ctx, "spec-change", gitboard.Just(&p))
			if err != nil {
				return err
			}
			missing, err := definition.Lacking(ctx, c, p.Spec)
			if err != nil {
				return err
			}
			return c.Report(done, map[string]any{"warnings": call.Every(missing)}, call.Prefixed("warning: ", missing)...)
		},
	}
})
