package recovery

import (
	"context"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees/doctor"
)

// onward replaces the hint of an error that would lead back to doctor.
func onward(err error) error {
	class := call.Classify(err)
	if !strings.Contains(class.Hint, "git liza doctor") {
		return err
	}
	hint := "stop, and let a human look: git fsck reports what is missing or damaged"
	if class.Exit == 2 {
		hint = "try again after a pause"
	}
	return &call.Outcome{Exit: class.Exit, Code: class.Code, Message: err.Error(), Hint: hint}
}

// Doctor reports what is broken in a clone, and with fix repairs what is safe.
func Doctor(ctx context.Context, c *call.Call, fix bool) error { return onward(survey(ctx, c, fix)) }

func survey(ctx context.Context, c *call.Call, fix bool) error {
	if err := git.RequireVersion(ctx); err != nil {
		return err
	}
	rescued, rest, err := Rescue(ctx, c, fix)
	if err != nil {
		return err
	}
	if rest == Nothing {
		return ReportLoss(c, rescued)
	}
	v, err := c.View(ctx)
	if err != nil {
		return err
	}
	if rest == Whole {
		if err := v.Follows(ctx); err != nil {
			return err
		}
	}
	var repairer board.Actor // only a repair needs an actor
	if fix {
		var err error
		if repairer, err = c.Actor(ctx, "finish-merge"); err != nil {
			return err
		}
	}
	findings, left, err := Repair(ctx, c, fix, repairer, func(doctor.Problem) bool { return true })
	if err != nil {
		return err
	}
	findings = slices.Insert(findings, 0, rescued...)
	there, away, err := AskRemote(ctx, c)
	if err != nil {
		return err
	}
	findings, left = append(findings, there...), left+len(there)
	if rest == NoPast { // it can't be counted, nor compared with integration
		return ReportLoss(c, findings)
	}
	figures, err := Count(ctx, c)
	if err != nil {
		return err
	}
	figures.Away = away
	unrecorded, err := Unrecorded(ctx, c)
	if err != nil {
		return err
	}
	findings = append(findings, unrecorded...)
	if err := printFindings(c, findings, figures); err != nil {
		return err
	}
	if n := len(unrecorded); n > 0 {
		return &call.Outcome{Exit: 4, Code: call.CodeViolation, Message: "integration moved without a record in " + text.Plural(n, "place"), Hint: "stop, and let a human look: git liza verify"}
	}
	if left > 0 {
		return &call.Outcome{Exit: 1, Code: call.CodeProblems, Message: text.Plural(left, "problem") + " left", Hint: ""}
	}
	return nil
}

func printFindings(c *call.Call, findings []Finding, f *Figures) error {
	lines := []string{"no problems found"}
	if len(findings) > 0 {
		lines = nil
	}
	for _, found := range findings {
		lines = append(lines, found.String())
	}
	return call.Tell(c, map[string]any{"problems": findings, "figures": f}, append(append(lines, ""), f.Lines()...)...)
}
