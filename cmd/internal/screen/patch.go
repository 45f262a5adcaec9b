package screen

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/editor"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/plain"
)

// ShowPatch prints what a task's last submission changes, in a pager on a terminal.
func ShowPatch(c *edge.Call, t *board.Task, sinceLast bool) error {
	patch, err := c.Opened.SubmissionDiff(c.Ctx, t, sinceLast)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.PrintJSON(patch)
	}
	return paged(c, Patch(c.Page(), patch))
}

// paged prints lines, on a terminal by the human's pager.
func paged(c *edge.Call, lines []string) error {
	if !c.ToTerminal() {
		return c.Print(lines)
	}
	pager := cmp.Or(c.App.Getenv("GIT_PAGER"), c.App.Getenv("PAGER"))
	if pager == "" {
		var err error
		if pager, _, err = c.Opened.Repo().Config(c.Ctx, "core.pager"); err != nil {
			return err
		}
	}
	text := c.Legible(strings.Join(lines, "\n")) + "\n"
	if editor.Page(cmp.Or(pager, "less"), text, c.App.Stdout, c.App.Stderr) != nil {
		return c.Print(lines) // there is no such pager
	}
	return nil
}

// Patch shows what a submission changes, coloured where somebody reads it.
func Patch(p edge.Page, patch *gitboard.Patch) []string {
	head := fmt.Sprintf("%s, submission %d: %.10s..%.10s", patch.Task, patch.Number, patch.From, patch.To)
	if patch.Since > 0 {
		head = fmt.Sprintf("%s, submission %d since submission %d: %.10s..%.10s", patch.Task, patch.Number, patch.Since, patch.From, patch.To)
	}
	if patch.Rewritten {
		head += "; its commits were rewritten, so this compares them one by one (git range-diff)"
	}
	lines := []string{p.Bold(head)}
	if strings.TrimSpace(patch.Text) == "" {
		return append(lines, "no difference in what the task changes")
	}
	for _, line := range strings.Split(strings.TrimRight(plain.Visible(patch.Text), "\n"), "\n") {
		lines = append(lines, colouredPatch(p, line))
	}
	return lines
}

func colouredPatch(p edge.Page, line string) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "):
		return p.Bold(line)
	case strings.HasPrefix(line, "@@"):
		return p.With("36", line)
	case strings.HasPrefix(line, "+"):
		return p.With("32", line)
	case strings.HasPrefix(line, "-"):
		return p.With("31", line)
	}
	return line
}
