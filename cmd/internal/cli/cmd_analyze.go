package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/gitboard/watch"
)

var _ = add(analyzeCommand)

func analyzeCommand() *edge.Command {
	return &edge.Command{
		Name: "analyze", Group: "human", Max: 0, Writes: true,
		Short: "look for patterns in the sprint's anomalies; a pattern halts the board",
		Long: `Exit code 1 when a pattern is found. Unless the circuit breaker is TRIGGERED already, a report is written
then and the board goes to CHECKPOINT until a human has resolved it.`,
		Example: `git liza analyze`,
		Run:     runAnalyze,
	}
}

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

func runAnalyze(ctx context.Context, c *edge.Call) error {
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
	return &edge.Outcome{Exit: 1, Code: edge.CodePattern, Message: plain.Plural(len(found), "pattern") + " found", Hint: "read the report; then git liza resolve --text TEXT, and git liza resume"}
}

func printAnalysis(c *edge.Call, a analysis) error {
	if c.JSON {
		return c.PrintJSON(a)
	}
	if a.OK {
		return c.Say(fmt.Sprintf("no pattern among the anomalies of %s", a.Sprint))
	}
	var lines []string
	for _, p := range a.Patterns {
		lines = append(lines, fmt.Sprintf("%s (%s): %s", p.Pattern, p.Severity, strings.Join(p.Anomalies, ", ")), "  common factor: "+plain.Line(p.Common, 200))
	}
	switch {
	case a.Tripped:
		lines = append(lines, "the circuit breaker is TRIGGERED; report: "+a.Report)
	case a.Trigger != nil:
		lines = append(lines, fmt.Sprintf("the circuit breaker is TRIGGERED since %s (%s)", a.Trigger.Timestamp, a.Trigger.Pattern))
	}
	return c.Say(lines...)
}
