package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/acts"
	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/definition"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

var _ = add(planCommand)

func planCommand() *call.Command {
	return &call.Command{
		Name: "plan", Group: "human", Max: 0, Reads: true,
		Short: "show all drafts on one page, with their dependencies and faults",
		Long: `The number before a task says how many tasks have to be over, one after the other, before it can begin. What is
worth a second look is a warning.`,
		Example: `git liza plan`,
		Run: func(ctx context.Context, c *call.Call) error {
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			ids := report.Unfinalized(v.State)
			drafts := report.Drafts(v.State, ids)
			if err := v.State.Err(); err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(map[string]any{"drafts": drafts})
			}
			if len(drafts) == 0 {
				return c.Say("no task is a DRAFT")
			}
			lines := screen.DraftLines(c.Page(), drafts)
			for _, first := range report.Completing(drafts) {
				lines = append(lines, first.What+": "+cmdline.Hint(first.Do))
			}
			return c.Print(append(lines[1:], "approve: "+cmdline.Hint(report.Finalizing(ids))))
		},
	}
}

var _ = add(addTaskCommand)

func addTaskCommand() *call.Command {
	var o definition.Flags
	var id string
	var p board.AddTask
	return &call.Command{
		Name: "add-task", Group: "planner", Args: "", Max: 0, Writes: true,
		Short: "define a task as DRAFT",
		Long: `With --ready the task is UNCLAIMED at once: a human injects it in one commit, a planner adds and
finalizes it in two (--request R then uses R/1 and R/2).`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&id, "id", "", "lower-case letters, digits and hyphens, like add-auth")
			call.GoalFlag(f, &p.Goal)
			o.Add(f)
			f.BoolVar(&p.Planned, "planned", false, "counts for the sprint (the usual while one runs)")
			f.BoolVar(&p.Stretch, "stretch", false, "is welcome in the sprint, but does not count")
			f.BoolVar(&p.Ready, "ready", false, "open it to coders at once")
		},
		Example: `git liza add-task --id login --desc "Add POST /login" --spec specs/vision.md#login --done "POST /login answers 200" --scope "IN: api/; OUT: ui/" --depends users --ready`,
		Run: func(ctx context.Context, c *call.Call) error {
			if id == "" {
				return call.Usage(c.Cmd, "--id is missing")
			}
			if o.D.Description == "" {
				return call.Usage(c.Cmd, "--desc is missing")
			}
			p.About, p.Definition, p.NoSpecFile = board.About{Task: id}, o.Definition(), c.SkipSpecFile()
			return runAddTask(ctx, c, &p)
		},
	}
}

func runAddTask(ctx context.Context, c *call.Call, p *board.AddTask) error {
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
	done, err := c.Do(ctx, "add-task", func(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
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
		lines = call.Prefixed("warning: ", warnings)
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
	return c.Report(done, map[string]any{"warnings": call.Every(warnings)}, lines...)
}

var _ = add(finalizeCommand)

func finalizeCommand() *call.Command {
	var all bool
	return &call.Command{
		Name: "finalize", Group: "planner", Args: "[ID...]", Min: 0, Max: -1, Writes: true,
		Short: "make DRAFT tasks claimable, if they pass every gate",
		Long: `Where plans are reviewed (plan_review of git liza team show), a planner's finalize proposes a draft: it stays DRAFT
until the reviewer, or a human, finalizes it or sends it back with git liza reject-draft.

Each task is one commit; with several, --request R uses R/1, R/2 and so on, and JSON lists them as operations.
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
			return definition.Finalize(ctx, c, c.Args, nil)
		},
	}
}

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
	return definition.Finalize(ctx, c, drafts, nil)
}

var _ = add(rejectDraftCommand)

func rejectDraftCommand() *call.Command {
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
}

var _ = add(amendTaskCommand)

func amendTaskCommand() *call.Command {
	var o definition.Flags
	var reason, addDone string
	return &call.Command{
		Name: "amend-task", Group: "planner", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short: "change a task's definition; the old one stays in its history",
		Flags: func(f *pflag.FlagSet) {
			o.Add(f)
			f.StringVar(&addDone, "add-done", "", "what else can be observed; comes after what --done says")
			f.StringVar(&reason, "reason", "", "why; needed unless the task is DRAFT")
		},
		Example: `git liza amend-task login --priority 1 --reason "the next sprint needs it"`,
		Run: func(ctx context.Context, c *call.Call) error {
			set := o.Set()
			switch {
			case addDone != "" && slices.Contains(set, "done_when"):
				return call.Usage(c.Cmd, "--done replaces the criteria, --add-done adds to them: give one of them")
			case addDone == "" && len(set) == 0:
				return call.Usage(c.Cmd, "nothing is named to change")
			}
			return c.Show(acts.Amend(ctx, c, c.Args[0], o.Definition(), set, addDone, reason))
		},
	}
}

var _ = add(supersedeCommand)

func supersedeCommand() *call.Command {
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
}

var _ = add(abandonCommand)

func abandonCommand() *call.Command {
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
}

var _ = add(specChangeCommand)

func specChangeCommand() *call.Command {
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
			missing, err := lacking(ctx, c, p.Spec)
			if err != nil {
				return err
			}
			return c.Report(done, map[string]any{"warnings": call.Every(missing)}, call.Prefixed("warning: ", missing)...)
		},
	}
}

// lacking describes the changes of a spec that integration lacks, committed here or not.
func lacking(ctx context.Context, c *call.Call, spec string) ([]string, error) {
	file := definition.Files([]string{spec})[0]
	v, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	tip, err := v.Integration(ctx)
	if err != nil {
		return nil, err
	}
	all, err := c.Board.Repo().Worktrees(ctx)
	if err != nil || all[0].Bare { // then the project's root has no specs to edit
		return nil, err
	}
	root, err := c.Board.Root(ctx)
	if err != nil {
		return nil, err
	}
	here, err := c.Board.Repo().Worktree(root).Checkout(ctx)
	if err != nil {
		return nil, err
	}
	name, land := v.State.Config().IntegrationBranch, "git liza land --spec "+text.Quote(file)
	if slices.ContainsFunc(here.Dirty, func(e git.StatusEntry) bool { return e.Path == file }) {
		return []string{fmt.Sprintf("%s has changes that are not committed, and %s lacks them: a human commits them, then %s", file, name, land)}, nil
	}
	committed, err := fileIn(ctx, c, here.Head, file)
	if err != nil {
		return nil, err
	}
	landed, err := fileIn(ctx, c, tip, file)
	switch {
	case err != nil || landed != "" && (committed == landed || committed == ""):
		return nil, err
	case committed == "":
		return []string{fmt.Sprintf("%s is not a file in HEAD, and not in %s", file, name)}, nil
	}
	return []string{fmt.Sprintf("%s lacks %s as it is in HEAD: a human brings it there with %s", name, file, land)}, nil
}

// fileIn is the object of a file in a commit, "" if there is none.
func fileIn(ctx context.Context, c *call.Call, commit plumbing.OID, file string) (plumbing.OID, error) {
	oid, err := c.Board.Repo().History().FileOID(ctx, commit, file)
	if errors.Is(err, git.ErrNotFound) {
		return "", nil
	}
	return oid, err
}
