package screen

import (
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Inbox draws what waits for a human: each item in full, and the commands that answer it.
func Inbox(p call.Page, in *report.Inbox) []string {
	if len(in.Items) == 0 {
		return []string{p.Bold("Nothing waits for you.")}
	}
	var lines []string
	section := false
	for i, item := range in.Items {
		if item.Turn == roles.Planner && !section {
			section = true
			lines = append(lines, "A planner is there, and looks at these first:", "")
		}
		lines = append(lines, drawItem(p, in, item)...)
		if i < len(in.Items)-1 {
			lines = append(lines, "")
		}
	}
	return lines
}

const itemNames = 15

// draftsInFull is the largest plan that the inbox shows in full.
const draftsInFull = 5

// drawItem draws one item: its title, the details, and what may be done.
func drawItem(p call.Page, in *report.Inbox, i report.Item) []string {
	l := call.Labels{Page: p, Names: itemNames}
	for n, line := range call.Wrap(i.Title, p.Width-2) {
		if n > 0 {
			line = "  " + line // no text by an agent begins a line
		}
		l.Lines = append(l.Lines, p.Bold(line))
	}
	l.Add("  task", i.Name)
	l.Add("  since", since(in, i))
	l.Add("  because", i.Text)
	for _, q := range i.Questions {
		l.Add("  asks", "? "+q)
	}
	l.Add("  attempted", strings.Join(i.Attempted, "\n"))
	l.Add("  failed by", strings.Join(i.FailedBy, ", "))
	l.Add("  evidence", strings.Join(i.Evidence, "\n"))
	l.Add("  work", workText(i.Work))
	if others := i.HoldsUp(); len(others) > 0 {
		l.Add("  holds up", text.Plural(len(others), "task")+": "+text.Line(strings.Join(others, ", "), 300))
	}
	if len(i.Drafts) <= draftsInFull {
		l.Lines = append(l.Lines, DraftLines(p, i.Drafts)...)
	} else {
		l.Lines = append(l.Lines, "  see them: "+cmdline.Of(board.ActOn("plan")))
	}
	for _, do := range i.Do {
		l.Lines = append(l.Lines, "  "+do.What+": "+cmdline.Hint(do.Do)) // on one line, so that it can be copied
	}
	return l.Lines
}

func since(in *report.Inbox, i report.Item) string {
	var parts []string
	if i.Since != "" {
		parts = append(parts, call.Since(in.Now.Std(), i.Since))
	}
	if i.By != "" {
		parts = append(parts, "by "+i.By)
	}
	return strings.Join(parts, ", ")
}

// workText describes a task's work so far.
func workText(w *report.Work) string {
	if w == nil {
		return ""
	}
	text := w.Worktree + ", branch " + w.Branch
	if w.Elsewhere {
		text = w.Worktree + " of another clone, branch " + w.Branch
	}
	if w.Coder != "" {
		text += ", by " + w.Coder
	}
	if w.Iteration > 0 {
		text += fmt.Sprintf(", iteration %d", w.Iteration)
	}
	if w.Submitted != "" {
		text += fmt.Sprintf(", submitted %.10s", w.Submitted)
	}
	return text
}

// Plan draws all drafts, and the commands that complete and approve them.
func Plan(p call.Page, drafts []report.Draft) []string {
	if len(drafts) == 0 {
		return []string{"no task is a DRAFT"}
	}
	lines := DraftLines(p, drafts)[1:]
	for _, first := range report.Completing(drafts) {
		lines = append(lines, first.What+": "+cmdline.Hint(first.Do))
	}
	var ids []string
	for _, d := range drafts {
		ids = append(ids, d.ID)
	}
	return append(lines, "approve: "+cmdline.Hint(report.Finalizing(ids)))
}

// DraftLines draw a plan: its tasks in the order in which they can begin, each with the tasks it
// waits for.
func DraftLines(p call.Page, drafts []report.Draft) []string {
	l := call.Labels{Page: p, Names: itemNames}
	for _, d := range drafts {
		head := fmt.Sprintf("%3d  %s", d.Level, d.ID)
		if len(d.DependsOn) > 0 {
			head += "  after " + strings.Join(d.DependsOn, ", ")
		}
		if len(d.NeededBy) > 0 {
			head += "  " + p.Arrow + " " + strings.Join(d.NeededBy, ", ")
		}
		l.Lines = append(l.Lines, "", p.Bold(head))
		l.Add("     what", d.Title)
		l.Add("     done when", d.DoneWhen)
		l.Add("     scope", d.Scope)
		l.Add("     spec", d.SpecRef)
		l.Add("     priority", fmt.Sprintf("%d, %s, by %s", d.Priority, d.Kind, d.CreatedBy))
		for _, w := range d.Warnings {
			l.Add("     warning", w)
		}
	}
	if len(drafts) > 0 {
		l.Lines = append(l.Lines, "")
	}
	return l.Lines
}
