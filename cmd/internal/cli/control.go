package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/acts"
	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/gitboard/watch"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(func() *call.Command {
	p := board.Pause{}
	return &call.Command{
		Name: "pause", Group: "human", Max: 0, Writes: true,
		Short: "stop claims, review claims and merges",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Task, "task", "", "this `TASK` only")
			f.StringVar(&p.Reason, "reason", "", "why")
		},
		Example: `git liza pause --task login --reason "the spec changes today"`,
		Run:     func(ctx context.Context, c *call.Call) error { return c.Just(ctx, &p) },
	}
})

var _ = add(func() *call.Command {
	p := board.Resume{}
	return &call.Command{
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
		Run: func(ctx context.Context, c *call.Call) error {
			return c.Show(acts.Resume(ctx, c, &p))
		},
	}
})

var _ = add(func() *call.Command {
	var reason, task string
	var yes bool
	return &call.Command{
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
		Run: func(ctx context.Context, c *call.Call) error {
			if task != "" {
				return abortTask(ctx, c, task, reason)
			}
			return justSure(ctx, c, &board.Abort{Reason: reason}, "this ends the run: goal and sprint are given up, the history stays", reason, yes)
		},
	}
})

// abortTask gives a task up from any status: one that can't be abandoned directly is blocked first.
func abortTask(ctx context.Context, c *call.Call, task, reason string) error {
	if reason == "" {
		reason = board.HumanOverride
	}
	request := c.Request
	c.Request = call.Numbered(request, 2)
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
			Actor: actor, ID: call.Numbered(request, 1), AllowSecret: c.AllowSecret,
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
	return c.Show(call.One(worktrees.End(ctx, c.Board, c.Asks(actor), &board.Abandon{About: board.About{Task: task}, Reason: reason})))
}

// needsBlock reports whether a task has to be blocked before it can be abandoned. It refuses a task
// that could not be abandoned even then, instead of blocking it in vain.
func needsBlock(ctx context.Context, c *call.Call, actor board.Actor, task, reason string) (bool, error) {
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

var _ = add(func() *call.Command {
	var finding string
	return &call.Command{
		Name: "resolve", Group: "human", Max: 0, Writes: true,
		Short: "record what became of the circuit breaker's trigger, and reset it",
		Long:  "The board stays at CHECKPOINT until git liza resume.",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&finding, "text", "", "the finding and the decision")
		},
		Example: `git liza resolve --text "The test server was down; it is up again"`,
		Run:     func(ctx context.Context, c *call.Call) error { return c.Show(acts.Resolve(ctx, c, finding)) },
	}
})

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "analyze", Group: "human", Max: 0, Writes: true,
		Short: "look for patterns in the sprint's anomalies; a pattern halts the board",
		Long: `Exit code 1 when a pattern is found. Unless the circuit breaker is TRIGGERED already, a report is written
then and the board goes to CHECKPOINT until a human has resolved it.`,
		Example: `git liza analyze`,
		Run:     runAnalyze,
	}
})

// analysis is the result of analyze, as --json prints it.
type analysis struct {
	OK        bool           `json:"ok"` // no pattern was found
	Sprint    string         `json:"sprint"`
	Anomalies int            `json:"anomalies"`
	Status    string         `json:"status"` // of the breaker, afterwards
	Trigger   *board.Trigger `json:"trigger,omitempty"`
	Patterns  []pattern      `json:"patterns"`
	Tripped   bool           `json:"tripped"` // by this call
	Commit    string         `json:"commit,omitempty"`
	Report    string         `json:"report,omitempty"` // path of the report
}

type pattern struct {
	Pattern   string   `json:"pattern"`
	Severity  string   `json:"severity"`
	Anomalies []string `json:"anomalies"`
	Common    string   `json:"common_factor"`
}

func runAnalyze(ctx context.Context, c *call.Call) error {
	actor, err := c.Actor(ctx, "trip")
	if err != nil {
		return err
	}
	v, err := c.View(ctx)
	if err != nil {
		return err
	}
	found := board.FindPatterns(v.State)
	a := analysis{OK: len(found) == 0, Sprint: v.State.Sprint().ID, Anomalies: len(v.State.List(board.AnomalyDir)), Patterns: []pattern{}}
	for _, p := range found {
		a.Patterns = append(a.Patterns, pattern(p))
	}
	after := v.State
	if len(found) > 0 && after.Breaker().Status == board.BreakerOK {
		done, report, err := watch.Trip(ctx, c.Board, c.Asks(actor), board.At(c.App.Now()))
		if err != nil {
			return err
		}
		after = done.After
		a.Tripped, a.Commit, a.Report = true, string(done.Commit), report
	}
	a.Status, a.Trigger = after.Breaker().Status, after.Breaker().CurrentTrigger
	if err := after.Err(); err != nil {
		return err
	}
	if err := printAnalysis(c, a); err != nil || a.OK {
		return err
	}
	return &call.Outcome{Exit: 1, Code: call.CodePattern, Message: text.Plural(len(found), "pattern") + " found", Hint: "read the report; then git liza resolve --text TEXT, and git liza resume"}
}

func printAnalysis(c *call.Call, a analysis) error {
	var lines []string
	if a.OK {
		lines = append(lines, fmt.Sprintf("no pattern among the anomalies of %s", a.Sprint))
	}
	for _, p := range a.Patterns {
		lines = append(lines, fmt.Sprintf("%s (%s): %s", p.Pattern, p.Severity, strings.Join(p.Anomalies, ", ")), "  common factor: "+text.Line(p.Common, 200))
	}
	switch {
	case a.Tripped:
		lines = append(lines, "the circuit breaker is TRIGGERED; report: "+a.Report)
	case a.Trigger != nil:
		lines = append(lines, fmt.Sprintf("the circuit breaker is TRIGGERED since %s (%s)", a.Trigger.Timestamp, a.Trigger.Pattern))
	}
	return call.Tell(c, a, lines...)
}
