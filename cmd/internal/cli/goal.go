package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/acts"
	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
)

var _ = add(func() *call.Command {
	p := board.GoalStart{}
	return &call.Command{
		Name: "goal start", Group: "human", Args: "TEXT", Min: 1, Max: 1, Writes: true,
		Short: "start a further goal on the board, after another or beside it",
		Long: `Goals that are in progress at the same time share agents, sprint and integration branch; each has tasks, planner and
end of its own. With --after it waits until that goal has ended.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.ID, "id", "", "its `ID`; the next number without it, like goal-2")
			f.StringVar(&p.SpecRef, "spec", "", "its specification, a `FILE` on the integration branch (default specs/vision.md, if there)")
			f.StringVar(&p.Vision, "vision", "", "why it is wanted, a `TEXT`")
			f.IntVar(&p.Priority, "priority", 0, "from 1 (first) to 5 (last); 3 without it")
			f.StringVar(&p.After, "after", "", "the `GOAL` that has to end first")
		},
		Example: `git liza goal start "Export invoices as PDF" --id billing --spec specs/billing.md`,
		Run: func(ctx context.Context, c *call.Call) error {
			p.Text = c.Args[0]
			return c.Show(acts.StartGoal(ctx, c, p))
		},
	}
})

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "goal list", Group: "human", Max: 0, Reads: true,
		Short:   "list the goals of the board, their progress, and who plans them",
		Example: `git liza goal list`,
		Run: viewing(func(ctx context.Context, c *call.Call, v *gitboard.View) error {
			goals := report.GoalsOf(v.State)
			if err := v.State.Err(); err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(map[string]any{"goals": call.Every(goals)})
			}
			page := c.Page()
			rows := make([][]string, len(goals))
			for i, g := range goals {
				rows[i] = goalRow(g)
			}
			lines := call.Columns("", rows)
			for i := range lines {
				lines[i] = page.Cut(lines[i], page.Width)
			}
			return c.Print(lines)
		}),
	}
})

// goalRow describes a goal in one row of a table.
func goalRow(g report.GoalOutlook) []string {
	state := string(g.Status)
	if g.WaitsFor != "" {
		state = "after " + g.WaitsFor
	}
	progress := progressOf(g)
	if g.Planner != "" && g.Status == board.InProgress {
		progress += ", planned by " + g.Planner
	}
	return []string{g.ID, state, fmt.Sprintf("priority %d", g.Priority), progress, text.Line(g.Text, 200)}
}

// progressOf describes the progress of a goal.
func progressOf(g report.GoalOutlook) string {
	line := text.Plural(g.Tasks, "task")
	if g.Tasks == 0 {
		return "no task"
	}
	line += fmt.Sprintf(", %d open", g.Open)
	if g.Blocked > 0 {
		line += fmt.Sprintf(", %d blocked", g.Blocked)
	}
	return line
}

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "goal show", Group: "human", Args: "[GOAL]", Max: 1, Reads: true,
		Short:   "show a goal: its text, its state, its alignment history and its tasks",
		Long:    "Without GOAL it is the only one that is worked on, or the one that ended last. With --json its record is printed.",
		Example: `git liza goal show billing`,
		Run: viewing(func(ctx context.Context, c *call.Call, v *gitboard.View) error {
			g, err := v.State.TheGoal(), error(nil)
			if id := call.First(c.Args); id != "" || g == nil {
				if g, err = v.State.FindGoal(id); err != nil {
					return err
				}
			}
			if err := v.State.Err(); err != nil {
				return err
			}
			if c.JSON {
				n, err := records.Part(ctx, c, v, []string{"goals." + g.ID})
				if err != nil {
					return err
				}
				return records.PrintNode(c, n)
			}
			lines := goalLines(v.State, g)
			if err := v.State.Err(); err != nil {
				return err
			}
			return c.Print(lines)
		}),
	}
})

func goalLines(s *board.State, g *board.Goal) []string {
	var lines call.Labelled
	lines.Add("goal", g.ID+", "+string(g.Status))
	lines.Add("text", g.Description)
	lines.Add("vision", g.Vision)
	lines.Add("spec", g.SpecRef)
	lines.Add("priority", strconv.Itoa(g.Priority))
	lines.Add("after", g.After)
	lines.Add("started", string(g.Created))
	lines.Add("reopened", string(g.Reopened))
	if !g.Ended.IsZero() {
		lines.Add("ended", string(g.Ended)+" by "+g.EndedBy)
	}
	lines.Add("planner", s.PlannerOf(g.ID))
	if g.PullRequest != nil {
		lines.Add("pull request", g.PullRequest.String())
	}
	for _, a := range g.AlignmentHistory {
		lines.Add("alignment", string(a.Timestamp)+" "+a.Event+": "+a.Summary)
	}
	if g.Archived > 0 {
		lines.Add("archived", text.Plural(g.Archived, "task"))
	}
	for _, b := range s.TasksOf(g.ID) {
		needs := ""
		if len(b.DependsOn) > 0 {
			needs = ", needs " + strings.Join(b.DependsOn, ", ")
		}
		lines.Add("task", b.ID+" "+string(b.Status)+needs)
	}
	return lines
}

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "goal priority", Group: "human", Args: "GOAL N", Min: 2, Max: 2, Writes: true,
		Short:   "set how urgent a goal is, from 1 (first) to 5 (last)",
		Long:    "Claims and reviews take the tasks of an urgent goal first, whatever the tasks' own priorities.",
		Example: `git liza goal priority billing 1`,
		Run: func(ctx context.Context, c *call.Call) error {
			n, err := strconv.Atoi(c.Args[1])
			if err != nil {
				return call.Usage(c.Cmd, "a priority is a number from 1 to 5, not %q", c.Args[1])
			}
			return c.Just(ctx, &board.GoalPriority{Goal: c.Args[0], Priority: n})
		},
	}
})

var _ = add(func() *call.Command {
	p := board.GoalComplete{}
	return &call.Command{
		Name: "goal complete", Group: "planner", Args: "[GOAL]", Max: 1, Writes: true,
		Short: "end a goal whose tasks are all finished",
		Long: `Without GOAL it is the only one that is worked on. With the setting goal_completion: human a planner's is refused:
the goal then waits in the inbox.`,
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&p.Summary, "summary", "", "what came of it") },
		Example: `git liza goal complete --summary "All endpoints are on integration"`,
		Run: func(ctx context.Context, c *call.Call) error {
			p.Goal = call.First(c.Args)
			return c.Show(acts.CompleteGoal(ctx, c, &p))
		},
	}
})

var _ = add(func() *call.Command {
	p := board.GoalAbort{}
	var yes bool
	return &call.Command{
		Name: "goal abort", Group: "human", Args: "[GOAL]", Max: 1, Writes: true,
		Short: "give up a goal; other goals continue",
		Long: `It asks on a terminal; elsewhere it takes --reason and --yes. Its tasks stay as they are, without agents: runs on them are ended, and their work is kept.
git liza goal reopen takes it up again. Without GOAL it is the only one that is worked on. git liza abort ends all of the run.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Reason, "reason", "", "why")
			f.BoolVar(&yes, "yes", false, "do not ask")
		},
		Example: `git liza goal abort billing --reason "it was bought instead" --yes`,
		Run: func(ctx context.Context, c *call.Call) error {
			p.Goal = call.First(c.Args)
			return justSure(ctx, c, &p, "this gives the goal up: agents stop working on its tasks, finished work stays", p.Reason, yes)
		},
	}
})

var _ = add(func() *call.Command {
	p := board.GoalReopen{}
	return &call.Command{
		Name: "goal reopen", Group: "human", Args: "GOAL", Min: 1, Max: 1, Writes: true,
		Short:   "reopen a goal that has ended",
		Long:    "A run that was aborted continues with it.",
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&p.Reason, "reason", "", "why") },
		Example: `git liza goal reopen goal-1 --reason "the export is missing"`,
		Run: func(ctx context.Context, c *call.Call) error {
			p.Goal = c.Args[0]
			return c.Just(ctx, &p)
		},
	}
})

var _ = add(func() *call.Command {
	p := board.AlignmentEntry{}
	return &call.Command{
		Name: "alignment", Group: "planner", Args: `"SUMMARY"`, Min: 1, Max: 1, Writes: true,
		Short: "append to a goal's alignment history",
		Long:  "With --wording the goal gets another wording; the entry keeps the old one.",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Event, "event", "planning", "what happened")
			f.StringVar(&p.Wording, "wording", "", "the new wording of the goal, a `TEXT`")
			call.GoalFlag(f, &p.Goal)
		},
		Example: `git liza alignment "The first milestone covers the whole login flow"`,
		Run: func(ctx context.Context, c *call.Call) error {
			p.Summary = c.Args[0]
			return c.Just(ctx, &p)
		},
	}
})
