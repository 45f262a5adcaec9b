package screen

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/editor"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
)

// ShowPatch prints the changes of a task's last submission, on a terminal in a pager.
func ShowPatch(ctx context.Context, c *call.Call, t *board.Task, sinceLast bool) error {
	patch, err := patchOf(ctx, c, t, sinceLast)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.PrintJSON(patch)
	}
	return paged(ctx, c, Patch(c.Page(), patch))
}

// patchOf is the changes of a task's last submission, with the comments on it.
func patchOf(ctx context.Context, c *call.Call, t *board.Task, sinceLast bool) (patch *gitboard.Patch, err error) {
	if sinceLast {
		patch, err = c.Board.SinceLast(ctx, t)
	} else {
		_, last := gitboard.LastTwo(t)
		patch, err = c.Board.SubmissionDiff(ctx, t, 0, last)
	}
	if err != nil {
		return nil, err
	}
	return patch, c.Board.Annotate(ctx, t, patch)
}

// paged prints lines, on a terminal in the human's pager.
func paged(ctx context.Context, c *call.Call, lines []string) error {
	if !c.App.ToTerminal() {
		return c.Print(lines)
	}
	pager := cmp.Or(c.App.Getenv("GIT_PAGER"), c.App.Getenv("PAGER"))
	if pager == "" {
		var err error
		if pager, _, err = c.Board.Repo().Settings().Get(ctx, "core.pager"); err != nil {
			return err
		}
	}
	text := c.Legible(strings.Join(lines, "\n")) + "\n"
	if editor.Page(cmp.Or(pager, "less"), text, c.App.Stdout, c.App.Stderr) != nil {
		return c.Print(lines) // the pager does not exist
	}
	return nil
}

// Patch formats the changes of a submission with the comments on it, coloured if p.Paint is set.
func Patch(p call.Page, patch *gitboard.Patch) []string {
	var lines []string
	for _, l := range patchLines(p, patch) {
		lines = append(lines, l.text)
	}
	return lines
}

// patchLine is a line of a patch, and its place as FILE:LINE, "" for none.
type patchLine struct{ text, at string }

func patchLines(p call.Page, patch *gitboard.Patch) []patchLine {
	head := fmt.Sprintf("%s, submission %d: %.10s..%.10s", patch.Task, patch.Number, patch.From, patch.To)
	if patch.Since > 0 {
		head = fmt.Sprintf("%s, submission %d since submission %d: %.10s..%.10s", patch.Task, patch.Number, patch.Since, patch.From, patch.To)
	}
	if patch.RangeDiff {
		head += "; its commits were rewritten, so this compares them one by one (git range-diff)"
	}
	lines := []patchLine{{p.Bold(head), ""}}
	add := func(at string, texts ...string) {
		for _, raw := range texts {
			lines = append(lines, patchLine{raw, at})
		}
	}
	left := patch.Comments
	switch {
	case strings.TrimSpace(patch.Text) == "":
		add("", "no difference in the task's changes")
	case patch.RangeDiff:
		for _, line := range strings.Split(strings.TrimRight(patch.Text, "\n"), "\n") {
			add("", colouredPatch(p, text.Shown(line)))
		}
	default:
		for l := range plumbing.PatchLines(patch.Text) {
			add(placeOf(l), colouredPatch(p, text.Shown(l.Text)))
			var here []report.Remark
			for here, left = beside(patch, l, left); len(here) > 0; here = here[1:] {
				add(placeOf(l), remark(p, here[0])...)
			}
		}
	}
	add("", remarkLines(p, left)...)
	return lines
}

// placeOf is where a comment on a line of a patch belongs: for a removed line, the line after it;
// in a deleted file, the old line.
func placeOf(l plumbing.PatchLine) string {
	switch {
	case l.Old+l.New == 0:
		return ""
	case l.Deleted:
		return text.Place(l.Was, l.Old)
	}
	return text.Place(l.Path, l.Next)
}

// beside splits the comments into those on a line of a patch and the others.
func beside(patch *gitboard.Patch, l plumbing.PatchLine, all []report.Remark) (here, left []report.Remark) {
	for _, r := range all {
		if patch.Shows(r, l) {
			here = append(here, r)
		} else {
			left = append(left, r)
		}
	}
	return here, left
}

// remark formats a comment to be shown below its line.
func remark(p call.Page, r report.Remark) []string {
	head := "    > " + r.Author()
	if fate := r.Fate(); fate != "" {
		head += " (" + fate + ")"
	}
	lines := []string{p.With("33", head+":")}
	for _, line := range strings.Split(text.Visible(r.Text), "\n") {
		lines = append(lines, p.With("33", "    > "+line))
	}
	return lines
}

// remarkLines lists the comments that are on no line of a patch.
func remarkLines(p call.Page, all []report.Remark) []string {
	if len(all) == 0 {
		return nil
	}
	lines := []string{"", p.Bold("comments on other lines")}
	for _, r := range all {
		head := fmt.Sprintf("%s, submission %d", r.Where(), r.Submission)
		if code := strings.TrimSpace(r.Code); code != "" {
			head += "  " + p.Fit(code, 100)
		}
		lines = append(append(lines, head), remark(p, r)...)
	}
	return lines
}

func colouredPatch(p call.Page, line string) string {
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
