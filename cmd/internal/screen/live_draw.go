package screen

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/report"
)

// readAgain rebuilds the displayed text from the last view.
func (w *statusWatch) readAgain(ctx context.Context) {
	switch w.reading {
	case help:
		w.text = func(p call.Page) []string { return call.Wrap(helpText(), p.Width) }
	case story:
		w.readStory(ctx)
	case inbox:
		in, err := w.seen.Inbox(w.App.Now())
		w.text = func(p call.Page) []string {
			if err != nil {
				return call.Wrap(err.Error(), p.Width)
			}
			return inboxRows(p, in)
		}
	case patch:
		w.readPatch(ctx)
	}
}

// inboxRows are the lines of the inbox for a screen; long commands are wrapped.
func inboxRows(p call.Page, in *report.Inbox) []string {
	var rows []string
	for _, l := range Inbox(call.Page{Width: p.Width, Height: p.Height, Signs: p.Signs}, in) {
		rows = append(rows, hardWrap(l, p.Width)...)
	}
	return rows
}

// readStory builds the story of the selected task.
func (w *statusWatch) readStory(ctx context.Context) {
	t, err := w.seen.State.FindTask(w.chosen())
	var f *taskFacts
	if err == nil {
		f, err = FactsOf(ctx, w.Call, w.seen.View, t)
	}
	w.text = func(p call.Page) []string {
		if err != nil {
			return call.Wrap(err.Error(), p.Width)
		}
		return f.Story(p, false)
	}
}

// readPatch builds the displayed diff; the cursor keeps its position.
func (w *statusWatch) readPatch(ctx context.Context) {
	v, err := w.patchOf(ctx, w.chosen())
	if err != nil {
		w.sinceLast = false
		w.say(err.Error())
		return
	}
	if w.patch != nil && w.patch.lines[0] == v.lines[0] { // comments come after their lines
		v.cursor, v.top = min(w.patch.cursor, len(v.lines)-1), w.patch.top
	}
	w.patch = v
}

// frame is the whole screen: the overview or the displayed text, and at the bottom always the
// message, the question and the keys.
func (w *statusWatch) frame(width, height int) []string {
	if o, err := w.seen.Overview(w.App.Now()); err == nil { // time has passed
		w.o = o
	}
	p := call.Page{Width: max(width, 20), Height: max(height, 4), Paint: w.Paint, Signs: w.Page().Signs}
	bottom := w.bottom(p)
	p.Height = max(p.Height-len(bottom), 1)
	w.rows = p.Height
	lines := w.read(p)
	lines = lines[:min(len(lines), p.Height)]
	for len(lines) < p.Height {
		lines = append(lines, "")
	}
	return strings.Split(w.Legible(strings.Join(append(lines, bottom...), "\n")), "\n")
}

// read is the part of the screen above the bottom.
func (w *statusWatch) read(p call.Page) []string {
	switch w.reading {
	case overview:
		return Status(p, w.o, Reasons(w.seen.State), Choice{w.selected, w.filter})
	case patch:
		return w.patch.draw(p)
	}
	lines := w.text(p)
	w.top = max(0, min(w.top, len(lines)-p.Height))
	return lines[w.top:]
}

// maxSaid is the largest number of lines of a message.
const maxSaid = 4

// bottom is the last message, the question, and the keys.
func (w *statusWatch) bottom(p call.Page) []string {
	bar := func(text string) string { return p.Inverse(call.Pad(p.Cut(text, p.Width-1), p.Width-1)) }
	var lines []string
	said := cmp.Or(w.failure, w.message)
	if w.doing != "" {
		said = w.doing
	}
	if said == "" && w.filter != "" && w.reading == overview {
		said = "only tasks with " + strconv.Quote(w.filter) + "; esc: all"
	}
	if said != "" && w.dialog == nil {
		wrapped := call.Wrap(said, p.Width-2)
		for _, l := range wrapped[:min(len(wrapped), maxSaid)] {
			lines = append(lines, bar(l))
		}
	}
	if w.fresh != nil && w.reading == overview && p.Height > 8 {
		lines = append(lines, p.Cut(w.fresh.Line(w.App.Now()), p.Width-1))
	}
	if w.dialog != nil {
		return append(w.dialog.lines(p), bar("enter: done   esc: leave it   Ctrl-U: erase"))
	}
	return append(lines, bar(w.keys(p.Width-1)))
}

// keys are the keys that do something now, as many as fit, always including help and quit.
func (w *statusWatch) keys(width int) string {
	s := w.subject()
	var keys []string
	switch w.reading {
	case patch:
		keys = append(keys, "esc back")
	case overview:
	default:
		keys = append(keys, "esc back", "up/down scroll")
	}
	for i := range bindings {
		if now, _ := actOf(bindings[i].key, s); now == &bindings[i] && w.reading != help {
			keys = append(keys, string(rune(now.key))+" "+now.name)
		}
	}
	switch {
	case w.reading == overview:
		keys = append(keys, "enter story", "d diff", "i inbox", "/ filter")
	case w.reading == story:
		keys = append(keys, "d diff")
	case w.reading == patch:
		keys = append(keys, "s since last")
	}
	last := "  ? help  q quit"
	line := ""
	for _, k := range keys {
		if call.Breadth(line+k+last)+2 <= width {
			line += k + "  "
		}
	}
	return strings.TrimSpace(line + strings.TrimSpace(last))
}

var watchHelp = []string{
	"up, down: choose a task; scroll what is read",
	"enter: the story of the chosen task; d: its diff; s: since the submission before",
	"i: what waits for you, in full",
	"/: only tasks with a text in id, state or agent; ! those that are stuck; esc: all",
	"",
	"With the chosen task:",
	"",
	"With the board:",
	"",
	"esc: back; ?: this help, and back; q: quit; Ctrl-Z: to the shell, and back by fg",
	"",
	"! marks a task that does not move by itself.",
	"The screen follows the board; leases are looked at every 10 seconds.",
}

// helpText lists every key.
func helpText() string {
	var lines []string
	for _, l := range watchHelp {
		lines = append(lines, l)
		if !strings.HasPrefix(l, "With the ") {
			continue
		}
		for _, a := range bindings {
			if a.board == (l == "With the board:") {
				lines = append(lines, "  "+string(rune(a.key))+": "+a.help)
			}
		}
	}
	return strings.Join(lines, "\n")
}
