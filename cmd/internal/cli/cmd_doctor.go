package cli

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/merge"
)

func doctorCommand() *command {
	var fix bool
	return &command{
		name: "doctor", group: "setting up", max: 0,
		short: "look for what a crash has left half-done, and mend what is safe",
		long: `Without --fix it only tells. Exit code 1 when something is left to do. The last lines are figures: how large the
board is and what the repository's objects fill, what is kept in the attic, versions.`,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&fix, "fix", false, "mend what is safe; nothing of anyone's work is lost")
		},
		run: func(c *call) error { return c.runDoctor(fix) },
	}
}

// finding is a problem as doctor prints it.
type finding struct {
	Kind  string `json:"kind"`
	Task  string `json:"task,omitempty"`
	Path  string `json:"path,omitempty"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
	Fixed bool   `json:"fixed"`
	Error string `json:"error,omitempty"`
}

func (c *call) runDoctor(fix bool) error {
	if _, err := c.board(); err != nil {
		return err
	}
	if err := gitio.RequireVersion(c.ctx); err != nil {
		return err
	}
	if _, err := c.view(); err != nil {
		return err
	}
	var mender board.Actor // only who mends must be somebody
	if fix {
		var err error
		if mender, err = c.actor("finish-merge"); err != nil {
			return err
		}
	}
	findings, left, err := c.mend(fix, mender, func(worktrees.Problem) bool { return true })
	if err != nil {
		return err
	}
	figures, err := c.figures()
	if err != nil {
		return err
	}
	if err := c.printFindings(findings, figures); err != nil {
		return err
	}
	if left > 0 {
		return &outcome{1, "problems", plural(left, "problem") + " left", ""}
	}
	return nil
}

// mend looks for problems until none that it can mend is left. findings are all that it found; left counts those
// that stay.
func (c *call) mend(fix bool, mender board.Actor, about func(worktrees.Problem) bool) (findings []finding, left int, err error) {
	findings = []finding{}
	// What was mended may have hidden something else.
	const rounds = 3
	for round := 1; ; round++ {
		found, mended, err := c.examine(fix, mender, about)
		if err != nil {
			return nil, 0, err
		}
		if len(mended) == 0 || round == rounds {
			return append(findings, found...), len(found) - len(mended), nil
		}
		findings = append(findings, mended...)
	}
}

// examine looks once for problems, and mends what can be. mended are those of what it found.
func (c *call) examine(fix bool, mender board.Actor, about func(worktrees.Problem) bool) (found, mended []finding, err error) {
	problems, err := c.diagnose(mender)
	for _, p := range problems {
		if !about(p) {
			continue
		}
		f := finding{Kind: p.Kind, Task: p.Task, Path: p.Path, Text: p.Text, Hint: p.Hint}
		switch {
		case p.Fix == nil:
		case !fix:
			f.Hint = "git liza doctor --fix"
		default:
			if err := p.Fix(c.ctx); err != nil {
				f.Error = err.Error()
			} else {
				f.Fixed = true
				mended = append(mended, f)
			}
		}
		found = append(found, f)
	}
	return found, mended, err
}

func (c *call) diagnose(mender board.Actor) ([]worktrees.Problem, error) {
	problems, err := merge.Diagnose(c.ctx, c.opened, mender)
	if err != nil {
		return nil, err
	}
	more, err := worktrees.Diagnose(c.ctx, c.opened)
	if err != nil {
		return append(problems, more...), err
	}
	own, err := c.health()
	return slices.Concat(problems, more, own), err
}

func (c *call) printFindings(findings []finding, f *figures) error {
	if c.json {
		return c.printJSON(map[string]any{"problems": findings, "figures": f})
	}
	lines := []string{"nothing is half-done"}
	if len(findings) > 0 {
		lines = nil
	}
	for _, f := range findings {
		lines = append(lines, f.String())
	}
	return c.say(append(append(lines, ""), f.lines()...)...)
}

// String is the finding as a human reads it.
func (f finding) String() string {
	switch {
	case f.Fixed:
		return "mended: " + f.Text
	case f.Error != "":
		return f.Text + "\n  could not be mended: " + f.Error
	case f.Hint != "":
		return f.Text + "\n  " + f.Hint
	}
	return f.Text
}
