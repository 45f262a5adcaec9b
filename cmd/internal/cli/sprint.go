package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/acts"
	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/report/sprint"
	"github.com/git-liza/git-liza/gitboard/text"
)

var _ = add(func() *call.Command {
	p := board.SprintStart{}
	var deadline string
	return &call.Command{
		Name: "sprint start", Group: "human", Args: `["AIM"]`, Max: 1, Writes: true,
		Short: "begin a sprint after one has ended",
		Long:  "The aim, what the sprint is for, goes into the goal's alignment history.",
		Flags: func(f *pflag.FlagSet) {
			call.ListFlag(f, &p.Planned, "planned", "`IDS` of the tasks that end the sprint once all are over, with commas or repeated")
			call.ListFlag(f, &p.Stretch, "stretch", "`IDS` of the tasks that are welcome")
			f.StringVar(&deadline, "deadline", "", "`WHEN` the board goes to CHECKPOINT: a time (2026-01-31T14:05:00Z), or a time from now (36h)")
		},
		Example: `git liza sprint start "The login flow" --planned login,users --deadline 36h`,
		Run: func(ctx context.Context, c *call.Call) error {
			p.Aim = call.First(c.Args)
			var err error
			if p.Deadline, err = call.Moment(c, "deadline", deadline, 1); err != nil {
				return err
			}
			done, err := c.Do(ctx, "sprint-start", gitboard.Just(&p))
			if err != nil {
				return err
			}
			left := unplanned(done.After)
			var lines []string
			if over := overAlready(done.After); len(over) > 0 {
				lines = append(lines, "over already: "+screen.SomeOf(over))
			}
			if len(left) > 0 {
				lines = append(lines, "neither planned nor stretch: "+screen.SomeOf(left))
			}
			return c.Report(done, map[string]any{"sprint": done.After.Sprint().ID, "unplanned": call.Every(left)}, lines...)
		},
	}
})

// unplanned lists the unfinished tasks outside the sprint's scope.
func unplanned(s *board.State) (ids []string) {
	scope := s.Sprint().Scope
	for _, b := range s.Tasks() {
		if !b.Status.Terminal() && !slices.Contains(scope.Planned, b.ID) && !slices.Contains(scope.Stretch, b.ID) {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// overAlready lists the finished tasks in the sprint's scope.
func overAlready(s *board.State) (ids []string) {
	scope := s.Sprint().Scope
	for _, id := range slices.Concat(scope.Planned, scope.Stretch) {
		if t := s.Task(id); t != nil && t.Status.Terminal() {
			ids = append(ids, id)
		}
	}
	return ids
}

var _ = add(func() *call.Command {
	var summary, changelog bool
	return &call.Command{
		Name: "sprint show", Group: "human", Max: 0, Reads: true,
		Short: "show the sprint: its scope, its clock, finished work and obstacles",
		Long: `--summary prints it as the checkpoint writes it, with the review checklist; --changelog what was recorded of changes
of the specs. Both are Markdown. An earlier sprint: --at a time before the next one began.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&summary, "summary", false, "as Markdown, with the checklist for a decision")
			f.BoolVar(&changelog, "changelog", false, "the changes of the specs in this sprint, as Markdown")
		},
		Example: `git liza sprint show --summary`,
		Run: viewing(func(ctx context.Context, c *call.Call, v *gitboard.View) error {
			now := c.Moment(v.State)
			switch {
			case summary && changelog:
				return call.Usage(c.Cmd, "--summary or --changelog, not both")
			case summary:
				text, err := sprint.Summary(v.State, now)
				return call.Markdown(c, "summary", text, err)
			case changelog:
				text, err := sprint.Changelog(v.State)
				return call.Markdown(c, "changelog", text, err)
			}
			r, err := report.ReviewSprint(v.State, now)
			if err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(r)
			}
			return c.Print(screen.Sprint(c.Page(), r, board.At(now)))
		}),
	}
})

var _ = add(func() *call.Command {
	p := board.SprintEnd{}
	var yes bool
	return &call.Command{
		Name: "sprint end", Group: "human", Max: 0, Writes: true,
		Short: "end the sprint: COMPLETED if all that it planned is finished, else ABORTED",
		Long:  "With planned tasks that are not finished it asks on a terminal; elsewhere it takes --reason and --yes.",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Reason, "reason", "", "why")
			f.BoolVar(&yes, "yes", false, "do not ask")
		},
		Example: `git liza sprint end --reason "its deadline has passed" --yes`,
		Run: func(ctx context.Context, c *call.Call) error {
			if err := sureToEnd(ctx, c, &p, yes); err != nil {
				return err
			}
			done, err := c.Do(ctx, "sprint-end", gitboard.Just(&p))
			if err != nil {
				return err
			}
			sp := done.After.Sprint()
			return c.Report(done, map[string]any{"sprint": sp.ID, "sprint_status": sp.Status},
				"look back: git liza retrospective --template > FILE; continue: git liza sprint start")
		},
	}
})

// sureToEnd asks for confirmation if planned tasks are unfinished.
func sureToEnd(ctx context.Context, c *call.Call, p *board.SprintEnd, yes bool) error {
	actor, err := c.Actor(ctx, "sprint-end")
	if err != nil {
		return err
	}
	done, err := c.Board.Lookup(ctx, c.Asks(actor))
	if err != nil || done != nil {
		return err
	}
	v, err := c.View(ctx)
	if err != nil {
		return err
	}
	sp := v.State.Sprint()
	if sp == nil {
		return v.State.Err()
	}
	var open []string
	for _, id := range sp.Scope.Planned {
		if b, ok := v.State.BriefOf(id); ok && !b.Status.Terminal() {
			open = append(open, id)
		}
	}
	if len(open) == 0 {
		return v.State.Err()
	}
	what := sp.ID + " has " + text.Plural(len(open), "planned task") + " that no one has finished (" + text.Line(strings.Join(open, ", "), 200) + ")"
	return sure(ctx, c, actor, p, what, p.Reason, yes)
}

var _ = add(func() *call.Command {
	var reason, task string
	return &call.Command{
		Name: "checkpoint", Group: "human", Max: 0, Writes: true,
		Short: "halt claims, review claims and merges until a human has decided, and write the sprint's summary",
		Long: `A planner may ask for one, too; a human releases it: git liza resume --decision CONTINUE.
With --task it is one task that waits for a human: it is paused.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&reason, "reason", "", "why")
			f.StringVar(&task, "task", "", "this `TASK` only (a human)")
		},
		Example: `git liza checkpoint --reason "the API is complete: does it fit?"`,
		Run: func(ctx context.Context, c *call.Call) error {
			if task != "" {
				return checkpointTask(ctx, c, task, reason)
			}
			return c.Show(acts.Checkpoint(ctx, c, reason))
		},
	}
})

// checkpointTask makes one task wait for a human.
func checkpointTask(ctx context.Context, c *call.Call, task, reason string) error {
	if c.AgentID() != "" {
		return board.Refuse(board.CodePermission, "a checkpoint of one task is for a human", "ask one: git liza note --for human TEXT")
	}
	done, err := c.Do(ctx, "pause", gitboard.Just(&board.Pause{About: board.About{Task: task}, Reason: strings.TrimSuffix("checkpoint: "+reason, ": ")}))
	if err != nil {
		return err
	}
	return c.Report(done, nil, "a human decides: git liza show "+task+", then git liza resume --task "+task+" --decision CONTINUE")
}

var _ = add(func() *call.Command {
	var template bool
	var file string
	return &call.Command{
		Name: "retrospective", Group: "human", Max: 0, Writes: true,
		Short: "store what was learnt from the sprint, or print a template filled with its figures",
		Long: `git liza retrospective --template > FILE, answer in the file, then git liza retrospective --file FILE.
It is stored with the sprint; an answer that is still missing is named. Without a flag it prints what is stored.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&template, "template", false, "print the template")
			f.StringVar(&file, "file", "", "store the text of this `FILE` (- is standard input)")
		},
		Example: `git liza retrospective --template > retrospective.md`,
		Run: func(ctx context.Context, c *call.Call) error {
			if file != "" {
				if template {
					return call.Usage(c.Cmd, "--template or --file, not both")
				}
				text, err := c.File("--file", file)
				if err != nil {
					return err
				}
				return c.Just(ctx, &board.Retrospective{Text: text})
			}
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			if template {
				text, err := sprint.Retrospective(v.State, c.App.Now())
				return call.Markdown(c, "template", text, err)
			}
			sp := v.State.Sprint()
			if err := v.State.Err(); err != nil {
				return err
			}
			if sp.Retrospective == "" {
				return board.Refuse(board.CodeUnknownRecord, sp.ID+" has no retrospective yet", "git liza retrospective --template > FILE")
			}
			return call.Markdown(c, "retrospective", sp.Retrospective, nil)
		},
	}
})

var _ = add(func() *call.Command {
	var goal string
	return &call.Command{
		Name: "metrics", Group: "human", Max: 0, Reads: true,
		Short:   "show the sprint's metrics, what it has cost, and whether reviewers approve everything",
		Long:    "With --goal they are of that goal's tasks; what planning it has cost is not in them.",
		Flags:   func(f *pflag.FlagSet) { call.NarrowFlag(f, &goal) },
		Example: `git liza metrics --json`,
		Run: viewing(func(ctx context.Context, c *call.Call, v *gitboard.View) error {
			s := v.State.ForRules()
			if err := call.Narrowed(s, goal); err != nil {
				return err
			}
			m, used, sp := report.MeasureOf(s, goal), report.UsedFor(s, goal), s.Sprint()
			if err := s.Err(); err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(map[string]any{"sprint": sp.ID, "since": sp.Timeline.Started, "metrics": m, "usage": used, "rubber_stamping": m.RubberStamping()})
			}
			return c.Print(append(screen.Metrics(c.Page(), sp, m), screen.Usage(c.Page(), used)...))
		}),
	}
})

var _ = add(func() *call.Command {
	var sprint string
	return &call.Command{
		Name: "archive", Group: "human", Max: 0, Writes: true,
		Short: "move the tasks of ended sprints to the archive; their ids still find them",
		Long: `A task that is over belongs to the sprint in which it ended. Archived tasks leave status, read and the choice of
work, count for what depends on them, and are shown by show, log and read tasks.ID.
Each sprint is one commit, a large one several, and all travel in one push; --request R uses R/1, R/2 and so on.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&sprint, "sprint", "", "only this sprint's, by its `ID`, also without a retrospective")
		},
		Example: `git liza archive --sprint sprint-1`,
		Run:     func(ctx context.Context, c *call.Call) error { return runArchive(ctx, c, sprint) },
	}
})

func runArchive(ctx context.Context, c *call.Call, sprint string) error {
	c.Request = call.Numbered(c.Request, 1)
	all, err := c.Together(ctx, "archive", func(ctx context.Context, v *gitboard.View) ([]board.Payload, error) {
		return archivable(ctx, v, sprint)
	})
	if err != nil && !errors.Is(err, errArchived) {
		return err
	}
	operations := []map[string]any{}
	for _, done := range all {
		p := done.Op.Payload.(*board.Archive)
		operations = append(operations, call.Reported(done, map[string]any{"sprint": p.Sprint, "tasks": p.Tasks}))
		if !c.JSON {
			if err := c.Report(done, nil); err != nil {
				return err
			}
		}
	}
	if c.JSON {
		return c.PrintJSON(map[string]any{"ok": true, "operations": operations})
	}
	if err != nil {
		return c.Say(err.Error())
	}
	return nil
}

// errArchived means that nothing is left to archive.
var errArchived = errors.New("nothing to archive: no task of an ended sprint is over and not archived yet")

// archivable returns the operations that archive the ended sprints, or only the named one.
func archivable(ctx context.Context, v *gitboard.View, named string) ([]board.Payload, error) {
	sprints, err := v.Sprints(ctx)
	if err != nil {
		return nil, err
	}
	now := v.State.Sprint()
	if named == now.ID && !now.Over() {
		return nil, board.Refuse(board.CodeWrongState, fmt.Sprintf("%s is %s: only an ended sprint is archived", now.ID, now.Status), "git liza sprint end, or wait until all that it planned is over")
	}
	var batches []board.Payload
	early, known := errArchived, []string{}
	for i, sp := range sprints {
		var until board.Time
		from := sp.Timeline.Started
		switch {
		case i+1 < len(sprints):
			until = sprints[i+1].Timeline.Started
		case !now.Over():
			continue
		}
		if i == 0 {
			from = ""
		}
		known = append(known, sp.ID)
		if named != "" && named != sp.ID {
			continue
		}
		tasks := board.ToArchive(v.State, from, until)
		if sp.ID == now.ID && named == "" && now.Retrospective == "" && len(tasks) > 0 {
			early = board.Refusef(board.CodeWrongState, "%s has no retrospective yet, and archived tasks leave its figures", now.ID).
				Advise("%s; without one: %s", board.ActOn("retrospective").With("template", ""), board.ActOn("archive").With("sprint", now.ID))
			continue
		}
		for ids := range slices.Chunk(tasks, board.MaxArchived) {
			batches = append(batches, &board.Archive{Sprint: sp.ID, Tasks: ids})
		}
	}
	if named != "" && !slices.Contains(known, named) {
		return nil, board.Refuse(board.CodeUnknownSprint, fmt.Sprintf("no ended sprint is called %q", text.Line(named, 60)), call.Suggest(named, known))
	}
	if err := v.State.Err(); err != nil || len(batches) > 0 {
		return batches, err
	}
	return nil, early
}
