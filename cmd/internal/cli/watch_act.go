package cli

import (
	"errors"
	"slices"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/board"
)

// act does what alarms bring about: a broken board pauses this clone, a passed deadline and a pattern of the
// circuit breaker halt the board.
func (w *watcher) act(f alarm.Facts, r alarm.Report) {
	if f.Invalid != "" {
		if slices.ContainsFunc(r.News, func(a alarm.Alarm) bool { return a.Rule == "invalid-state" }) {
			_, err := w.board.PauseClone(w.ctx, "INVALID STATE: "+f.Invalid+"\nLook with git liza verify; take this file away to go on (git liza docs human-override).")
			w.own(err)
		}
		return
	}
	stands := func(rule string) bool {
		return slices.ContainsFunc(r.Standing, func(a alarm.Alarm) bool { return a.Rule == rule })
	}
	mode := f.State.Control().Mode
	if stands("sprint-deadline") && f.State.Sprint().Status == board.InProgress && (mode == board.Running || mode == board.Paused) {
		w.halt("deadline", func(actor board.Actor) error {
			_, err := w.board.Do(w.ctx, gitboard.Request{Actor: actor, Intent: gitboard.Just(&board.Deadline{})})
			return err
		})
	}
	if stands("circuit-breaker") && !w.noBreaker && f.State.Breaker().Status == board.BreakerOK {
		w.halt("trip", func(actor board.Actor) error {
			_, report, err := w.trip(w.ctx, actor, "")
			if err == nil {
				w.line("the board is at CHECKPOINT; report: "+report, "")
			}
			return err
		})
	}
}

// halt commits what halts the board, if whoever runs the watch may.
func (w *watcher) halt(op string, do func(board.Actor) error) {
	actor, err := w.whoActs(op)
	if err == nil {
		err = do(actor)
	}
	if refusal := (*board.Refusal)(nil); err != nil && !errors.As(err, &refusal) { // refused: not ours to do, or somebody was faster
		w.trouble(op + ": " + err.Error())
	}
}
