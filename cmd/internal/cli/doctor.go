package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/recovery"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees/doctor"
)

var _ = add(doctorCommand)

func doctorCommand() *call.Command {
	var fix bool
	return &call.Command{
		Name: "doctor", Group: "setting up", Max: 0,
		Short: "find what a crash left half-done, and repair what is safe",
		Long: `Without --fix it only reports. Exit code 1 when something is left to do, 4 when the board can't be read or breaks
its rules. The last lines are figures: the sizes of the board and of the repository's objects, kept work, versions, and
anything that could not be checked. verify checks the whole history.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&fix, "fix", false, "repair what is safe; nobody's work is lost")
		},
		Example: `git liza doctor --fix`,
		Run:     func(ctx context.Context, c *call.Call) error { return elsewhere(runDoctor(ctx, c, fix)) },
	}
}

// elsewhere replaces the hint of an error that would lead back to doctor.
func elsewhere(err error) error {
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

func runDoctor(ctx context.Context, c *call.Call, fix bool) error {
	if err := git.RequireVersion(ctx); err != nil {
		return err
	}
	rescued, rest, err := recovery.Rescue(ctx, c, fix)
	if err != nil {
		return err
	}
	if rest == recovery.Nothing {
		return recovery.ReportLoss(c, rescued)
	}
	v, err := c.View(ctx)
	if err != nil {
		return err
	}
	if rest == recovery.Whole {
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
	findings, left, err := recovery.Repair(ctx, c, fix, repairer, func(doctor.Problem) bool { return true })
	if err != nil {
		return err
	}
	findings = slices.Insert(findings, 0, rescued...)
	there, away, err := recovery.AskRemote(ctx, c)
	if err != nil {
		return err
	}
	findings, left = append(findings, there...), left+len(there)
	if rest == recovery.NoPast { // it can't be counted, nor compared with integration
		return recovery.ReportLoss(c, findings)
	}
	figures, err := recovery.Count(ctx, c)
	if err != nil {
		return err
	}
	figures.Away = away
	unrecorded, err := recovery.Unrecorded(ctx, c)
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

func printFindings(c *call.Call, findings []recovery.Finding, f *recovery.Figures) error {
	if c.JSON {
		return c.PrintJSON(map[string]any{"problems": findings, "figures": f})
	}
	lines := []string{"no problems found"}
	if len(findings) > 0 {
		lines = nil
	}
	for _, f := range findings {
		lines = append(lines, f.String())
	}
	return c.Say(append(append(lines, ""), f.Lines()...)...)
}
