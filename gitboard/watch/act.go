package watch

import (
	"context"
	"errors"
	"slices"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/board"
)

// act carries out the consequences of alarms: a broken board pauses this clone; a passed deadline
// or a pattern of the circuit breaker halts the board.
func (w *watcher) act(ctx context.Context, f alarm.Facts, r alarm.Report) {
	if f.Invalid != "" {
		if slices.ContainsFunc(r.News, func(a alarm.Alarm) bool { return a.Rule == "invalid-state" }) {
			_, err := w.board.Clone().Pause(ctx, "INVALID STATE: "+f.Invalid+"\nLook with git liza verify; remove this file to continue (git liza docs operators-guide).")
			w.own(err)
		}
		return
	}
	w.summarize(f)
	met := func(rule string) bool {
		return slices.ContainsFunc(r.Met, func(a alarm.Alarm) bool { return a.Rule == rule })
	}
	mode := f.State.Control().Mode
	if met("sprint-deadline") && f.State.Sprint().Status == board.InProgress && (mode == board.Running || mode == board.Paused) {
		w.halt(ctx, "deadline", func(actor board.Actor) (string, error) {
			done, err := w.board.Do(ctx, gitboard.Request{Actor: actor}, gitboard.Just(&board.Deadline{}))
			if err != nil {
				return "", err
			}
			file, err := KeepSummary(w.board, done)
			if err != nil {
				return halted(done) + "; no summary: " + err.Error(), nil
			}
			return halted(done) + "; summary: " + file, nil
		})
	}
	if met("circuit-breaker") && !w.NoBreaker && f.State.Breaker().Status == board.BreakerOK {
		w.halt(ctx, "trip", func(actor board.Actor) (string, error) {
			done, report, err := Trip(ctx, w.board, gitboard.Request{Actor: actor}, board.At(w.Now()))
			if err != nil {
				return "", err
			}
			return halted(done) + "; report: " + report, nil
		})
	}
}

// halted describes the board's mode after an operation that halts it; a board that a human has
// PAUSED stays PAUSED.
func halted(done *gitboard.Done) string {
	mode := "at CHECKPOINT"
	if c := done.After.Control(); c != nil && c.Mode == board.Paused {
		mode = "PAUSED"
	}
	return "the board is " + mode + ": " + done.Subject
}

// summarize writes the sprint's summary when a human has stopped this clone by the file
// .liza/CHECKPOINT.
func (w *watcher) summarize(f alarm.Facts) {
	file, wrote, err := KeepHaltSummary(w.board, f.State, f.Halts)
	w.own(err)
	if wrote {
		w.Screen.Line(string(board.At(w.Now())) + "  this clone is stopped by .liza/CHECKPOINT; summary: " + file)
	}
}

// halt commits an operation that halts the board, if the watch's user may, and reports it.
func (w *watcher) halt(ctx context.Context, op string, do func(board.Actor) (string, error)) {
	actor, err := w.Actor(ctx, op)
	if err != nil {
		return // reported at the start
	}
	said, err := do(actor)
	refusal := (*board.Refusal)(nil)
	switch {
	case err == nil:
		w.Screen.Line(string(board.At(w.Now())) + "  " + said)
	case !errors.As(err, &refusal): // a refusal means that somebody else was faster
		w.trouble(op + ": " + err.Error())
	}
}
