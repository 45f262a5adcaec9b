package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/history"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/report"
)

// lookEvery is how often it is looked for what no event tells: leases, files that stop the clone, transcripts. A look
// reads a few small files and starts no process.
const lookEvery = 5 * time.Second

// look is the board as it was read once, with what was beside it then. Its pages are always the same.
type look struct {
	*gitboard.View
	o     *report.Overview
	inbox *report.Inbox
	now   time.Time
	past  bool              // asked for by ?at=
	last  map[string]string // the last line that an agent printed in this clone
}

// id names a look for a browser: the board's commit, and a stamp of what is beside the board.
func (l *look) id(stamp string) string { return string(l.Commit) + "." + stamp }

// mostLooks is how many looks are remembered for browsers that come back.
const mostLooks = 8

// hub is the one reader of the board, for all who look.
type hub struct {
	board *gitboard.Board
	app   *edge.App

	mu      sync.Mutex // over everything below, and over reading from a look: its state is read as it is needed
	mark    string     // of what was found by the last look around
	stamp   string     // the same, and other again when a lease has run out
	newest  *look      // nil before the first one, and when something has changed since
	looks   []kept     // the newest last
	lines   []history.Line
	streams map[chan struct{}]bool
	expires time.Time // the first time at which a lease that counts runs out
}

type kept struct {
	id string
	*look
}

func newHub(b *gitboard.Board, app *edge.App) *hub {
	return &hub{board: b, app: app, streams: map[chan struct{}]bool{}}
}

// run follows the board until the context ends.
func (h *hub) run(ctx context.Context) error {
	changes, err := h.board.Follow(ctx, lookEvery)
	if err != nil {
		return err
	}
	for range changes {
		h.lookAround(ctx)
	}
	return nil
}

// lookAround wakes those who look, if something has changed.
func (h *hub) lookAround(ctx context.Context) {
	mark, err := h.board.Mark(ctx)
	if err != nil {
		mark = err.Error()
	}
	mark = hashOf(mark + logSizes(h.board.Dir()))
	h.mu.Lock()
	defer h.mu.Unlock()
	ranOut := !h.expires.IsZero() && !h.app.Now().Before(h.expires)
	if mark == h.mark && !ranOut {
		return
	}
	h.mark, h.stamp = mark, hashOf(mark + h.expires.String())[:12]
	h.newest, h.expires = nil, time.Time{}
	for s := range h.streams {
		select {
		case s <- struct{}{}:
		default: // it has not looked yet since the last time
		}
	}
}

// logSizes says how long the transcripts are.
func logSizes(dir string) string {
	entries, _ := os.ReadDir(filepath.Join(dir, "logs")) // no agent may have run here
	text := ""
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			text += fmt.Sprintf("%s %d\n", e.Name(), info.Size())
		}
	}
	return text
}

// subscribe returns a channel that gets a value whenever something has changed.
func (h *hub) subscribe() (changed chan struct{}, leave func()) {
	changed = make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.streams[changed] = true
	return changed, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.streams, changed)
	}
}

// with calls a function with the newest look, and its id. No two such functions run at once.
func (h *hub) with(ctx context.Context, use func(l *look, id string) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	l, err := h.current(context.WithoutCancel(ctx)) // it serves others when this request is over
	if err != nil {
		return err
	}
	err = use(l, l.id(h.stamp))
	if l.State.Err() != nil { // the next one reads it anew
		h.newest = nil
	}
	return err
}

// current is the newest look; under the lock.
func (h *hub) current(ctx context.Context) (*look, error) {
	if h.newest != nil {
		return h.newest, nil
	}
	v, err := h.board.View(ctx)
	if err != nil {
		return nil, err
	}
	g, err := v.Glance(ctx)
	if err != nil {
		return nil, err
	}
	l, err := seen(ctx, g, h.app.Now())
	if err != nil {
		return nil, err
	}
	o, now := l.o, l.now
	l.last = lastLines(ctx, h.board.Dir(), o)
	h.newest, h.expires = l, nextExpiry(o, now)
	h.looks = append(h.looks, kept{l.id(h.stamp), l})
	h.looks = slices.Clone(h.looks[max(0, len(h.looks)-mostLooks):])
	return l, nil
}

// nextExpiry is when the first lease that counts now runs out: an agent will be gone then, though nothing changes.
func nextExpiry(o *report.Overview, now time.Time) time.Time {
	var next time.Time
	for _, a := range o.Agents {
		if at := a.LeaseExpires.Std(); a.LeaseExpires != "" && at.After(now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// remembered is the look that a browser had last, nil where it is not known any more; under the lock.
func (h *hub) remembered(id string) *look {
	for _, k := range h.looks {
		if k.id == id {
			return k.look
		}
	}
	return nil
}

// at looks at the board as it was. Of its leases nothing is known.
func (h *hub) at(ctx context.Context, when string) (*look, error) {
	v, err := h.board.ViewAt(ctx, when)
	if err != nil {
		return nil, err
	}
	g, err := v.PastGlance(ctx)
	if err != nil {
		return nil, err
	}
	l, err := seen(ctx, g, v.State.Time().Std())
	if err != nil {
		return nil, err
	}
	l.past = true
	return l, nil
}

// seen is what a glance shows at a moment.
func seen(ctx context.Context, g *gitboard.Glance, now time.Time) (*look, error) {
	o, err := g.Overview(now)
	if err != nil {
		return nil, err
	}
	in, err := g.Inbox(ctx, now)
	if err != nil {
		return nil, err
	}
	return &look{View: g.View, o: o, inbox: in, now: now}, nil
}

// operations are the operations up to a commit, the newest first; under the lock. Those that came since the last time
// are added to what is known.
func (h *hub) operations(ctx context.Context, tip git.OID) ([]history.Line, error) {
	if i := slices.IndexFunc(h.lines, func(l history.Line) bool { return l.Commit == tip }); i >= 0 {
		return h.lines[i:], nil
	}
	known := git.ZeroOID
	if len(h.lines) > 0 {
		known = h.lines[0].Commit
	}
	call := &edge.Call{App: h.app, Ctx: ctx, Opened: h.board}
	news, err := history.Lines(call, history.Options{}, known, tip)
	if err != nil {
		return nil, err
	}
	h.lines = slices.Concat(news, h.lines)
	return h.lines, nil
}

// secret is random text of 32 bytes.
func secret(read func([]byte) (int, error)) string {
	var raw [32]byte
	if _, err := read(raw[:]); err != nil {
		panic("no randomness: " + err.Error()) // nothing safe can be done without
	}
	sum := sha256.Sum256(raw[:])
	return hex.EncodeToString(sum[:])
}
