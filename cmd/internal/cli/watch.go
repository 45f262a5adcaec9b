package cli

import (
	"encoding/json"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/notify"
	"github.com/git-liza/git-liza/gitboard/oplog"
)

const (
	watchEvery = 30 * time.Second       // a look without an event
	watchPause = 250 * time.Millisecond // between two looks, however much happens
	watchQuiet = time.Minute            // without an operation, for git to tidy up
	watchGrace = 2 * time.Second        // for the webhook at the end
)

// The files of this clone's own that watch writes.
const (
	memoryFile     = "told.json"  // what it knows from one run to the next
	aliveFile      = "watch"      // that it looks, and when it did
	alertsFile     = "alerts.log" // every alarm that was told
	escalationFile = "ESCALATION" // what has waited for a human for too long
)

// watcher is a running watch.
type watcher struct {
	*edge.Call
	watchOptions
	board    *gitboard.Board
	terminal bool // where people read it

	memory watchMemory
	broken string // why the board can't be trusted, "" when it can

	goal, commit, clone string // as of the last look
	hook                atomic.Pointer[string]
	started             board.Time
	standing            int
	said                string // the trouble that was told last, "" after a look without any
	troubled            bool   // since that look began

	tidying          sync.WaitGroup
	webhook, desktop *notify.Carrier
	desktopFaults    <-chan error
}

// watchMemory is what a watch leaves to the next one.
type watchMemory struct {
	Told     alarm.Told `json:"told"`
	Verified git.OID    `json:"verified"` // the newest commit of the board that was proven
}

func watch(c *edge.Call, o watchOptions) error {
	if _, err := c.View(); err != nil && !untrustworthy(err) {
		return err
	}
	w, err := newWatcher(c, o)
	if err != nil {
		return err
	}
	if err := w.alone(); err != nil {
		return err
	}
	changes, err := w.board.Follow(c.Ctx, watchEvery)
	if err != nil {
		return err
	}
	w.begin()
	defer w.end()
	return w.loop(changes)
}

// newWatcher takes up what an earlier watch has left.
func newWatcher(c *edge.Call, o watchOptions) (*watcher, error) {
	b, err := c.Board()
	if err != nil {
		return nil, err
	}
	w := &watcher{Call: c, watchOptions: o, board: b, terminal: edge.IsTerminal(c.App.Stderr) && !c.JSON, started: board.At(c.App.Now())}
	text, err := b.Kept(memoryFile)
	if err != nil {
		return nil, err
	}
	_ = json.Unmarshal([]byte(text), &w.memory) // what can't be read was not told
	w.clone, err = b.CloneID()
	return w, err
}

// loop looks whenever something has happened, or time alone has changed something.
func (w *watcher) loop(changes <-chan struct{}) error {
	due := time.NewTimer(0)
	defer due.Stop()
	beat := time.NewTicker(w.heartbeat)
	defer beat.Stop()
	var last time.Time
	defer w.tidying.Wait()
	for {
		select {
		case <-w.Ctx.Done():
			return nil
		case _, open := <-changes:
			if !open {
				return nil
			}
			due.Reset(max(0, watchPause-time.Since(last)))
		case <-due.C:
			last = time.Now()
			next, err := w.look()
			if err != nil {
				return err
			}
			if next != "" {
				due.Reset(max(watchPause, next.Std().Sub(w.App.Now())))
			}
		case <-beat.C:
			w.beat()
		case err := <-w.webhook.Faults():
			w.trouble(err.Error())
		case err := <-w.desktopFaults:
			w.trouble(err.Error())
		}
	}
}

// tidy lets git tidy the repository up beside the watch; a failure is git's to tell whoever runs it next.
func (w *watcher) tidy() {
	b := w.board
	w.tidying.Go(func() { _, _ = b.Maintain(w.Ctx) })
}

// look looks once, tells what is new and does what is to be done. It returns when time alone changes something
// next; an error ends the watch.
func (w *watcher) look() (board.Time, error) {
	before := w.memory.Verified
	w.troubled = false
	defer func() {
		if !w.troubled {
			w.said = ""
		}
	}()
	facts, report, err := w.judge(w.memory.Told)
	var newer *oplog.NewerFormatError
	switch {
	case w.Ctx.Err() != nil:
		return "", nil
	case errors.As(err, &newer):
		return "", err
	case err != nil:
		w.trouble("can't look: " + err.Error())
		w.reopen()
		return "", nil
	}
	w.standing = len(report.Standing)
	for _, a := range report.News {
		w.tell(a)
	}
	if facts.Invalid == "" {
		w.escalate(report.Standing)
	}
	if before != w.memory.Verified || !maps.Equal(w.memory.Told, report.Told) {
		w.memory.Told = report.Told
		data, _ := json.Marshal(w.memory)
		w.own(w.board.Keep(memoryFile, string(data)))
	}
	w.alive()
	w.act(facts, report)
	if facts.State != nil && w.App.Now().Sub(facts.State.Time().Std()) >= watchQuiet {
		w.tidy()
	}
	return report.Next, nil
}

// reopen takes new children of git for the next look: the old ones may be why the last one failed.
func (w *watcher) reopen() {
	w.Close()
	w.Opened = nil
	if b, err := w.Call.Board(); err == nil {
		w.board = b
	}
}
