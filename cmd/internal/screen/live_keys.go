package screen

import (
	"context"
	"slices"

	"github.com/git-liza/git-liza/cmd/internal/tty"
)

// press handles a key.
func (w *statusWatch) press(ctx context.Context, k tty.Key) {
	switch {
	case k == tty.PasteBegin, k == tty.PasteEnd:
		w.pasting = k == tty.PasteBegin
	case w.dialog != nil:
		w.typed(k)
	case w.pasting: // nothing was asked for this text
	default:
		w.message = ""
		w.command(ctx, k)
	}
}

// typed handles a key for the current question.
func (w *statusWatch) typed(k tty.Key) {
	d := w.dialog
	switch {
	case k == tty.Escape, k == tty.Interrupt:
		w.dialog = nil
	case k == tty.Enter && !w.pasting:
		d.answers = append(d.answers, d.String())
		if d.input = d.next(d.answers); d.input == nil {
			w.dialog = nil
			d.end(d.answers)
		}
	default:
		d.press(k, w.pasting)
	}
}

// command handles a key while no question is asked.
func (w *statusWatch) command(ctx context.Context, k tty.Key) {
	switch k {
	case 'q', tty.Interrupt:
		w.quit = true
	case '?':
		w.show(ctx, help)
	case 'i':
		w.show(ctx, inbox)
	case 'd':
		w.sinceLast = false
		w.show(ctx, patch)
	case 's':
		if w.reading == patch {
			w.sinceLast = !w.sinceLast
			w.readAgain(ctx)
		}
	case '/':
		w.ask("show tasks with", w.filter, w.only)
	case tty.Escape, tty.Left:
		if w.reading == overview {
			w.filter = ""
		}
		w.reading = overview
	case tty.Enter, tty.Right:
		if w.reading == overview && w.chosen() == "" && w.selected != "" {
			w.show(ctx, inbox) // the entry is about no task
		} else if w.reading == overview {
			w.show(ctx, story)
		}
	case tty.Up, 'k':
		w.move(-1)
	case tty.Down, 'j':
		w.move(1)
	case tty.PageUp:
		w.move(-w.page())
	case tty.PageDown, ' ':
		w.move(w.page())
	case tty.Home:
		w.move(-1 << 20)
	case tty.End:
		w.move(1 << 20)
	default:
		w.act(ctx, k)
	}
}

// only lists only tasks that match a text, and selects the first one if the selected task does not
// match.
func (w *statusWatch) only(text string) {
	w.filter, w.reading = text, overview
	groups := w.listed()
	if text == "" || len(groups) == 0 || slices.ContainsFunc(groups, func(g *taskGroup) bool { return g.holds(w.selected) }) {
		return
	}
	w.selected = groups[0].tasks[0].ID
}

// page is the distance of a page: all displayed lines but one.
func (w *statusWatch) page() int { return max(w.rows-1, 1) }

// ask asks for one text.
func (w *statusWatch) ask(label, text string, end func(string)) {
	w.dialog = &dialog{
		input: newInput(label, text), next: func([]string) *input { return nil },
		end: func(answers []string) { end(answers[0]) },
	}
}

// show switches the screen to a view, or back to the overview if it is shown already.
func (w *statusWatch) show(ctx context.Context, v view) {
	if v == w.reading {
		w.reading = overview
		return
	}
	if (v == story || v == patch) && w.chosen() == "" {
		w.say("choose a task first: up, down")
		return
	}
	was := w.reading
	w.reading, w.top, w.patch = v, 0, nil
	w.readAgain(ctx)
	if v == patch && w.patch == nil {
		w.reading = was
	}
}

// say shows a message until a key is pressed or the board changes.
func (w *statusWatch) say(text string) { w.message, w.said = text, w.seen.Commit }

// listed are the groups of tasks that pass the filter.
func (w *statusWatch) listed() []*taskGroup { return groupTasks(w.o, w.filter) }

// move selects another task, or scrolls the displayed text.
func (w *statusWatch) move(by int) {
	switch w.reading {
	case overview:
	case patch:
		w.patch.move(by)
		return
	default:
		w.top += by
		return
	}
	var ids []string
	for _, a := range w.o.Waiting {
		ids = append(ids, choiceOf(a))
	}
	for _, g := range w.listed() {
		for _, t := range g.tasks {
			ids = append(ids, t.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	at := slices.Index(ids, w.selected)
	if at < 0 && by < 0 {
		at = 0
	}
	w.selected = ids[min(max(at+by, 0), len(ids)-1)]
}
