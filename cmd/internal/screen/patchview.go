package screen

import (
	"context"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
)

// patchView is a submission's diff with a cursor on one of its lines.
type patchView struct {
	lines  []string // safe for a terminal, not coloured
	at     []string // by line: FILE:LINE in the new file, or the deleted one; "" for none
	cursor int
	top    int // the first row on the screen
}

func newPatchView(patch *gitboard.Patch) *patchView {
	v := &patchView{}
	for _, l := range patchLines(call.Page{}, patch) {
		v.lines, v.at = append(v.lines, l.text), append(v.at, l.at)
	}
	return v
}

// move moves the cursor.
func (v *patchView) move(by int) { v.cursor = min(max(v.cursor+by, 0), len(v.lines)-1) }

// place is the place of the cursor's line, "" for none.
func (v *patchView) place() string { return v.at[v.cursor] }

// draw draws the part around the cursor, with long lines wrapped.
func (v *patchView) draw(p call.Page) []string {
	var rows []string
	first, last := 0, 0 // rows of the cursor
	for i, l := range v.lines {
		if i == v.cursor {
			first = len(rows)
		}
		for _, row := range hardWrap(strings.ReplaceAll(l, "\t", "    "), p.Width-2) {
			mark := "  "
			if i == v.cursor {
				mark = p.Cursor + " "
			}
			rows = append(rows, mark+colouredRow(p, l, row))
		}
		if i == v.cursor {
			last = len(rows)
		}
	}
	v.top = min(max(v.top, last-p.Height), first)
	v.top = max(min(v.top, len(rows)-p.Height), 0)
	return rows[v.top:]
}

// colouredRow colours a piece of a line like the whole line.
func colouredRow(p call.Page, line, row string) string {
	if painted := colouredPatch(p, line); painted != line {
		return strings.Replace(painted, line, row, 1)
	}
	return row
}

// patchOf is the diff of a task's last submission for the screen.
func (w *statusWatch) patchOf(ctx context.Context, task string) (*patchView, error) {
	t, err := w.seen.State.FindTask(task)
	if err != nil {
		return nil, err
	}
	patch, err := patchOf(ctx, w.Call, t, w.sinceLast)
	if err != nil {
		return nil, err
	}
	return newPatchView(patch), nil
}
