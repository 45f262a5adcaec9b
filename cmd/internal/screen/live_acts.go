package screen

import (
	"context"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/tty"
)

// subject is the target of an act.
func (w *statusWatch) subject() *subject {
	s := &subject{o: w.o, st: w.seen.State}
	if id := w.chosen(); id != "" && w.reading != inbox {
		s.t = w.seen.State.Task(id)
	}
	if w.reading == patch && w.patch != nil {
		s.at = w.patch.place()
	}
	return s
}

// chosen is the selected task, or the task that the selected entry is about; "" for none.
func (w *statusWatch) chosen() string {
	for i, a := range w.o.Waiting {
		if choiceOf(a) == w.selected {
			return w.o.About(i)
		}
	}
	if strings.HasPrefix(w.selected, waits) {
		return ""
	}
	return w.selected
}

// act starts what a key does with the selected task or the board, after asking its questions.
func (w *statusWatch) act(ctx context.Context, k tty.Key) {
	s := w.subject()
	a, known := actOf(k, s)
	switch {
	case a != nil:
	case known == nil:
		return
	case known.board:
		w.say("there is nothing to " + known.name + ": the board is " + string(s.o.Mode))
		return
	case s.t == nil:
		w.say("choose a task first: up, down")
		return
	default:
		w.say(s.t.ID + " is " + string(s.t.Status) + ": there is nothing to " + known.name)
		return
	}
	if w.doing != "" {
		w.say("wait for: " + w.doing)
		return
	}
	next := func(answers []string) *input {
		if a.next == nil {
			return nil
		}
		return a.next(s, answers)
	}
	end := func(answers []string) { w.carryOut(ctx, a.do(s, answers), a.name) }
	if first := next(nil); first != nil {
		w.dialog = &dialog{input: first, next: next, end: end}
		return
	}
	end(nil)
}

// carryOut carries out an act as the human of this clone, while the screen stays live.
func (w *statusWatch) carryOut(ctx context.Context, a call.Act, name string) {
	if err := w.ActsAsHuman(ctx, "status --watch", "git liza status"); err != nil {
		w.showOutcome(ctx, outcome{err: err})
		return
	}
	w.doing = name
	go func() {
		done, err := a.Carry(ctx, w.Call)
		w.outcomes <- outcome{done, err}
	}()
}

// showOutcome shows the outcome.
func (w *statusWatch) showOutcome(ctx context.Context, o outcome) {
	w.doing = ""
	w.lookAgain(ctx)
	if o.err == nil {
		w.say(strings.Join(o.done.Said(), "; "))
		return
	}
	text := o.err.Error()
	if hint := call.Classify(o.err).Hint; hint != "" {
		text += ". " + hint
	}
	w.say(text)
}
