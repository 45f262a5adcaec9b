package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/history"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
)

// lookEvery is how often the hub checks what no event reports: leases, files that stop the clone,
// transcripts. A check reads a few small files and starts no process.
const lookEvery = 5 * time.Second

// look is the board as read once, with the state outside the board at that time. Its pages never
// change.
type look struct {
	*gitboard.View
	glance *gitboard.Glance
	o      *report.Overview
	inbox  *report.Inbox
	now    time.Time
	past   bool             // requested by ?at=
	goal   string           // the only goal that is shown, "" for all
	of     map[string]*look // the same for one goal each, as far as asked for
	needs  needs
	last   map[string]string // by agent: the last line printed in this clone
	pages  map[string]*page  // by URL: those that are followed, while it is the newest
}

// followed is the page of a URL for those who follow it: it is made once for all of them. The
// caller holds the hub's lock.
func (l *look) followed(url string, make func() (*page, error)) (*page, error) {
	if p := l.pages[url]; p != nil {
		return p, nil
	}
	p, err := make()
	if err == nil && len(l.pages) < maxStreams {
		if l.pages == nil {
			l.pages = map[string]*page{}
		}
		l.pages[url] = p
	}
	return p, err
}

// id identifies a look for a browser: the board's commit, and a stamp of the state outside the
// board.
func (l *look) id(stamp string) string { return string(l.Commit) + "." + stamp }

// maxLooks is how many looks are cached for browsers that reconnect.
const maxLooks = 8

// hub is the only reader of the board, shared by all viewers.
type hub struct {
	board *gitboard.Board
	app   *call.App
	every time.Duration // between two checks without an event

	mu      sync.Mutex // guards all below, and looks, whose state is read lazily
	mark    string     // of the last check's result
	stamp   string     // of mark and ranOut
	ranOut  time.Time  // when the last lease expired that anybody saw expire
	newest  *look      // nil at first, and after a change
	looks   []cached   // newest last
	lines   []history.Line
	streams map[chan struct{}]bool
	expires time.Time // when the next live lease expires
}

// cached is a look with its id.
type cached struct {
	id string
	*look
}

func newHub(c Config) *hub {
	return &hub{board: c.Board, app: c.App, every: cmp.Or(c.Every, lookEvery), streams: map[chan struct{}]bool{}}
}

// run follows the board until the context ends.
func (h *hub) run(ctx context.Context) error {
	changes, err := h.board.Follow(ctx, h.every)
	if err != nil {
		return err
	}
	for range changes {
		h.lookAround(ctx)
	}
	return nil
}

// lookAround notifies the viewers if something has changed.
func (h *hub) lookAround(ctx context.Context) {
	mark, err := h.board.Mark(ctx)
	if err != nil {
		mark = err.Error()
	}
	mark = hashOf(mark + logSizes(h.board.Dir()))
	h.mu.Lock()
	defer h.mu.Unlock()
	expired := !h.expires.IsZero() && !h.app.Now().Before(h.expires)
	if mark == h.mark && !expired {
		return
	}
	if expired {
		h.ranOut = h.expires
	}
	h.mark, h.stamp = mark, hashOf(mark + h.ranOut.String())[:12]
	h.forget()
	h.expires = time.Time{}
	for s := range h.streams {
		select {
		case s <- struct{}{}:
		default: // it has not read the last notification yet
		}
	}
}

// logSizes describes the sizes of the transcripts.
func logSizes(dir string) string {
	entries, _ := os.ReadDir(filepath.Join(dir, "logs")) // missing if no agent has run here
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

// with calls a function with the newest look and its id. Only one such function runs at a time.
func (h *hub) with(ctx context.Context, use func(l *look, id string) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	l, err := h.current(context.WithoutCancel(ctx)) // others use it after this request
	if err != nil {
		return err
	}
	err = use(l, l.id(h.stamp))
	if l.State.Err() != nil { // the next caller reads it again
		h.forget()
	}
	return err
}

// forget has the board read again for the next viewer. The caller holds the lock.
func (h *hub) forget() {
	if h.newest != nil {
		h.newest.pages = nil
	}
	h.newest = nil
}

// current is the newest look. The caller holds the lock.
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
	l, err := seen(g, h.app.Now())
	if err != nil {
		return nil, err
	}
	o, now := l.o, l.now
	l.last = lastLines(ctx, h.board.Dir(), o)
	h.newest, h.expires = l, nextExpiry(o, now)
	h.looks = append(h.looks, cached{l.id(h.stamp), l})
	h.looks = slices.Clone(h.looks[max(0, len(h.looks)-maxLooks):])
	return l, nil
}

// nextExpiry is when the next live lease expires: its agent counts as ended then, without a change
// of the board.
func nextExpiry(o *report.Overview, now time.Time) time.Time {
	var next time.Time
	for _, a := range o.Agents {
		if at := a.LeaseExpires.Std(); a.LeaseExpires != "" && at.After(now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// remembered is a browser's last look, nil if it is not cached any more. The caller holds the lock.
func (h *hub) remembered(id string) *look {
	for _, k := range h.looks {
		if k.id == id {
			return k.look
		}
	}
	return nil
}

// at reads the board as of an earlier time, without leases.
func (h *hub) at(ctx context.Context, when string) (*look, error) {
	v, err := h.board.ViewAt(ctx, when)
	if err != nil {
		return nil, err
	}
	g, err := v.PastGlance(ctx)
	if err != nil {
		return nil, err
	}
	l, err := seen(g, v.State.Time().Std())
	if err != nil {
		return nil, err
	}
	l.past = true
	return l, nil
}

// seen is a look at what a glance shows at a given time.
func seen(g *gitboard.Glance, now time.Time) (*look, error) {
	o, err := g.Overview(now)
	if err != nil {
		return nil, err
	}
	in, err := g.Inbox(now)
	if err != nil {
		return nil, err
	}
	return &look{View: g.View, glance: g, o: o, inbox: in, now: now}, nil
}

// narrowed is a look at one goal. The caller holds the lock, or is the look's only user.
func (l *look) narrowed(ctx context.Context, goal string) (*look, error) {
	if n := l.of[goal]; n != nil {
		return n, nil
	}
	if _, err := l.State.FindGoal(goal); err != nil {
		return nil, err
	}
	g := *l.glance
	n, err := seen(g.Of(goal), l.now)
	if err != nil {
		return nil, err
	}
	n.past, n.last, n.goal = l.past, l.last, goal
	if l.of == nil {
		l.of = map[string]*look{}
	}
	l.of[goal] = n
	return n, nil
}

// operations lists the operations up to a commit, newest first. It adds new ones to the cached
// list. The caller holds the lock.
func (h *hub) operations(ctx context.Context, tip plumbing.OID) ([]history.Line, error) {
	if i := slices.IndexFunc(h.lines, func(l history.Line) bool { return l.Commit == tip }); i >= 0 {
		return h.lines[i:], nil
	}
	known := plumbing.ZeroOID
	if len(h.lines) > 0 {
		known = h.lines[0].Commit
		if on, err := h.board.Repo().History().IsAncestor(ctx, known, tip); err != nil || !on { // the board was set back
			known, h.lines = plumbing.ZeroOID, nil
		}
	}
	call := &call.Call{App: h.app, Board: h.board}
	news, err := history.Lines(ctx, call, history.Options{}, known, tip)
	if err != nil {
		return nil, err
	}
	h.lines = slices.Concat(news, h.lines)
	return h.lines, nil
}

// secret returns a random text made from 32 bytes.
func secret(read func([]byte) (int, error)) string {
	var raw [32]byte
	if _, err := read(raw[:]); err != nil {
		panic("no randomness: " + err.Error()) // it keeps everything safe
	}
	sum := sha256.Sum256(raw[:])
	return hex.EncodeToString(sum[:])
}
