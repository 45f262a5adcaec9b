package watch

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/text"
)

// judge evaluates the board. An error means that the look failed; a broken board is a condition
// like any other.
func (w *watcher) judge(ctx context.Context, reported alarm.Reported) (alarm.Facts, alarm.Report, error) {
	f, err := w.facts(ctx)
	var r alarm.Report
	if err == nil {
		r, err = alarm.Evaluate(f, reported)
	}
	if errors.Is(err, log.ErrNoBoard) && w.commit != "" {
		err = &log.RecordError{Commit: plumbing.OID(w.commit), Path: plumbing.BoardRef, Err: errors.New("the board is gone")}
	}
	if !untrustworthy(err) {
		return f, r, err
	}
	f.State, f.Invalid = nil, text.Line(err.Error(), 300)
	r, err = alarm.Evaluate(f, reported)
	return f, r, err
}

// facts gathers the input of the alarm rules.
func (w *watcher) facts(ctx context.Context) (alarm.Facts, error) {
	f := alarm.Facts{Now: board.At(w.Now())}
	halts, err := w.board.Clone().Halts(ctx)
	if err != nil {
		return f, err
	}
	f.Halts, f.Handled = halts, w.board.Clone().Handled()
	v, err := w.board.View(ctx)
	if err == nil {
		err = doubted(v.Doubt(ctx))
	}
	if err == nil {
		f.State = v.State
		f.Leases, err = w.leases(ctx, v, f.Now)
	}
	if err == nil {
		f.Strays, err = Strays(ctx, w.board, v)
	}
	if err == nil {
		f.SetBack, err = v.SeenSetBack(ctx)
	}
	if err == nil {
		err = w.setting(v)
	}
	return f, err
}

// leases returns the leases of a view. If a look comes long after it was due, because the machine
// has slept or its clock was set forward, those that ran at the last one count as running until
// there was time for a heartbeat.
func (w *watcher) leases(ctx context.Context, v *gitboard.View, now board.Time) (map[string]board.Lease, error) {
	heartbeat := board.At(now.Std().Add(time.Duration(v.State.Config().HeartbeatInterval) * time.Second))
	if w.looked != "" && now.Std().Sub(w.looked.Std()) > 4*watchEvery {
		w.slept, w.awake = w.looked, heartbeat
	}
	w.looked, w.awake = now, min(w.awake, heartbeat) // the clock may be set back again
	leases, err := v.LeasesSeen(ctx)
	for id, l := range leases {
		if l.Expires > w.slept {
			l.Expires = max(l.Expires, w.awake)
			leases[id] = l
		}
	}
	return leases, cmp.Or(v.State.Err(), err)
}

// doubted is why a view can't be trusted, as an error.
func doubted(doubt *log.RecordError, err error) error {
	if doubt != nil {
		return doubt
	}
	return err
}

// setting copies what notices and carriers need from the board. It also reads every record that
// each board has, because later code relies on them.
func (w *watcher) setting(v *gitboard.View) error {
	goal, config := v.State.ForRules().Purpose(), v.State.Config()
	v.State.Sprint()
	v.State.Control()
	v.State.Breaker()
	if err := v.State.Err(); err != nil {
		return err
	}
	w.goal, w.commit = text.Line(goal, 200), string(v.Commit)
	hook := string(config.EscalationWebhook)
	w.hook.Store(&hook)
	return nil
}

// untrustworthy reports whether an error means that the board itself is wrong, not merely
// unreadable for now.
func untrustworthy(err error) bool {
	record, ref := (*log.RecordError)(nil), (*git.BrokenRefError)(nil)
	return errors.As(err, &record) || errors.As(err, &ref)
}
