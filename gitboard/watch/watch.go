package watch

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/notify"
)

const (
	watchEvery = 30 * time.Second       // between looks without an event
	watchPause = 250 * time.Millisecond // between two looks at least
	watchQuiet = time.Minute            // without an operation before git tidies up
	watchGrace = 2 * time.Second        // for the webhook at the end
)

// The files of this clone that a watch writes.
const (
	reportedFile   = "reported.json" // the conditions that one run leaves to the next
	aliveFile      = "watch"         // locked while it runs; since when
	alertsFile     = "alerts.log"    // every reported alarm
	escalationFile = "ESCALATION"    // questions that waited too long for a human
)

// Config sets the repository to watch, the actor, and the display of the findings.
type Config struct {
	Board  *gitboard.Board
	Reopen func() (*gitboard.Board, error)                           // reopens the board after a failed look
	Actor  func(ctx context.Context, op string) (board.Actor, error) // who halts the board; an error if nobody here may
	Now    func() time.Time
	Screen Screen

	Desktop   bool          // show alarms on the desktop
	NoBreaker bool          // report the circuit breaker's patterns without halting the board
	Heartbeat time.Duration // interval of the screen's beats
}

// Screen displays what a watch finds. Its texts may contain characters that are unsafe for a
// terminal.
type Screen interface {
	// Alarm shows a new alarm.
	Alarm(notify.Notice) error
	// Line shows a line about the watch itself.
	Line(text string)
	// Looked shows that a look succeeded, and how many conditions are met.
	Looked(at time.Time, conditions int)
	// Beat shows that the watch is alive when there is nothing else to show.
	Beat(at time.Time, conditions int) error
	// Begin and End are the first and the last call. alerts is the file of all alarms; halts
	// describes what the watch does about a pattern of the circuit breaker.
	Begin(at board.Time, alerts, halts string)
	End()
}

// watcher is a running watch.
type watcher struct {
	Config
	board *gitboard.Board

	reported alarm.Reported // by this watch and earlier ones

	goal, commit, clone string // as of the last look
	hook                atomic.Pointer[string]
	started             board.Time
	conditions          int
	said                string // the last reported trouble, "" after a look without any
	troubled            bool   // since the present look began

	looked board.Time // the last look
	slept  board.Time // the last look before a long gap, "" for none
	awake  board.Time // until when agents have time for a heartbeat after it

	tidying          sync.WaitGroup
	webhook, desktop *notify.Carrier
	desktopFaults    <-chan error
}

// Run watches until the context ends.
func Run(ctx context.Context, c Config) error {
	if _, err := c.Board.View(ctx); err != nil && !untrustworthy(err) {
		return err
	}
	w, err := newWatcher(ctx, c)
	if err != nil {
		return err
	}
	unlock, err := w.lock()
	if err != nil {
		return err
	}
	defer unlock()
	changes, err := w.board.Follow(ctx, watchEvery)
	if err != nil {
		return err
	}
	w.begin(ctx)
	defer w.end()
	return w.loop(ctx, changes)
}

// Once looks once and returns the conditions that are met. It reports nothing and changes nothing.
func Once(ctx context.Context, c Config) ([]notify.Notice, error) {
	w, err := newWatcher(ctx, c)
	if err != nil {
		return nil, err
	}
	_, report, err := w.judge(ctx, nil)
	if err != nil {
		return nil, err
	}
	notices := make([]notify.Notice, len(report.Met))
	for i, a := range report.Met {
		notices[i] = w.notice(a)
	}
	return notices, nil
}

// newWatcher restores what an earlier watch has left.
func newWatcher(ctx context.Context, c Config) (*watcher, error) {
	w := &watcher{Config: c, board: c.Board, started: board.At(c.Now())}
	text, err := kept(w.board, reportedFile)
	if err != nil {
		return nil, err
	}
	_ = json.Unmarshal([]byte(text), &w.reported) // what can't be read counts as not reported
	w.clone, err = w.board.Clone().ID(ctx)
	return w, err
}

// loop looks whenever something happens or time alone changes something.
func (w *watcher) loop(ctx context.Context, changes <-chan struct{}) error {
	due := time.NewTimer(0)
	defer due.Stop()
	beat := time.NewTicker(w.Heartbeat)
	defer beat.Stop()
	var last time.Time
	defer w.tidying.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case _, open := <-changes:
			if !open {
				return nil
			}
			due.Reset(min(watchPause, max(0, watchPause-w.Now().Sub(last))))
		case <-due.C:
			last = w.Now()
			next, err := w.look(ctx)
			if err != nil {
				return err
			}
			if next != "" {
				due.Reset(max(watchPause, next.Std().Sub(w.Now())))
			}
		case <-beat.C:
			w.own(w.Screen.Beat(w.Now(), w.conditions))
		case err := <-w.webhook.Faults():
			w.trouble(err.Error())
		case err := <-w.desktopFaults:
			w.trouble(err.Error())
		}
	}
}

// tidy runs git's maintenance in the background. Git reports a failure to its next caller.
func (w *watcher) tidy(ctx context.Context) {
	b := w.board
	w.tidying.Go(func() { _, _ = b.Maintain(ctx) })
}

// look looks once, reports what is new and acts on it. It returns when time alone changes something
// next; an error ends the watch.
func (w *watcher) look(ctx context.Context) (board.Time, error) {
	w.troubled = false
	defer func() {
		if !w.troubled {
			w.said = ""
		}
	}()
	facts, report, err := w.judge(ctx, w.reported)
	var newer *log.NewerFormatError
	switch {
	case ctx.Err() != nil:
		return "", nil
	case errors.As(err, &newer):
		return "", err
	case err != nil:
		w.trouble("can't look: " + err.Error())
		w.reopen()
		return "", nil
	}
	w.conditions = len(report.Met)
	for _, a := range report.News {
		w.report(a)
	}
	if facts.Invalid == "" {
		w.escalate(report.Met)
	}
	if !maps.Equal(w.reported, report.Reported) {
		w.reported = report.Reported
		data, _ := json.Marshal(w.reported)
		w.own(w.board.Clone().Keep(reportedFile, string(data)))
	}
	w.Screen.Looked(w.Now(), w.conditions)
	w.act(ctx, facts, report)
	if facts.State != nil && w.Now().Sub(facts.State.Time().Std()) >= watchQuiet {
		w.tidy(ctx)
	}
	return report.Next, nil
}

// reopen starts new git children for the next look, since the old ones may have made the last one
// fail.
func (w *watcher) reopen() {
	if b, err := w.Reopen(); err == nil {
		w.board = b
	}
}
