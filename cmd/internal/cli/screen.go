package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/roles/supervisor"
)

// screen is a team's terminal: a line an event or a line of output, each with its agent's name, and one line
// below them that stays.
type screen struct {
	c     *call
	out   io.Writer
	paint paint
	stays bool // there is a terminal for the line that stays
	done  sync.WaitGroup
	bell  *bell

	mu     sync.Mutex
	names  []string // of the agents, in the order of their coming
	doing  map[string]doing
	tally  string
	shown  bool // the line that stays is there
	closed bool
}

// doing is what an agent does, since when.
type doing struct {
	what  string
	since time.Time
}

// newScreen begins a screen; it follows the board until the context ends.
func newScreen(ctx context.Context, c *call) (*screen, error) {
	s := &screen{c: c, out: c.app.Stdout, paint: c.paint(), stays: c.toTerminal() && !c.json && c.app.Getenv("TERM") != "dumb", doing: map[string]doing{}, bell: c.newBell()}
	if !s.stays {
		return s, nil
	}
	b, err := gitboard.Open(ctx, c.directory(), gitboard.Options{Now: c.app.Now})
	if err != nil {
		return nil, err
	}
	changed, err := b.Follow(ctx, time.Minute)
	if err != nil {
		return nil, err
	}
	s.done.Go(func() {
		defer b.Close()
		s.follow(ctx, b, changed)
	})
	return s, nil
}

// follow keeps the line below up to date: with the board, and with the clock.
func (s *screen) follow(ctx context.Context, b *gitboard.Board, changed <-chan struct{}) {
	clock := time.NewTicker(10 * time.Second)
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-clock.C:
		case <-changed:
			if v, err := b.View(ctx); err == nil { // otherwise the supervisors say so
				s.count(v.State)
			}
		}
		s.print("")
	}
}

func (s *screen) count(state *board.State) {
	tally := supervisor.Tally(state)
	if mode := state.Control(); mode != nil && mode.Mode != board.Running {
		tally = string(mode.Mode) + ": " + tally
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tally = tally
}

// tell prints an event.
func (s *screen) tell(e supervisor.Event) {
	s.bell.ring(e)
	if s.c.json {
		s.mu.Lock()
		defer s.mu.Unlock()
		_ = s.c.printJSON(e) // whoever read it has gone
		return
	}
	s.mu.Lock()
	s.doing[e.Agent] = doing{what(e), e.Time}
	s.mu.Unlock()
	s.print(s.prefix(e.Agent) + s.paint.with("2", e.Time.Local().Format("15:04:05")) + " " + board.Visible(e.Line()) + "\n")
}

// what is what an agent does after an event, in a word or two.
func what(e supervisor.Event) string {
	switch e.Event {
	case supervisor.Started:
		if e.Task != "" {
			return e.Task
		}
		return "plans"
	case supervisor.Waiting:
		if e.Idle {
			return "idle"
		}
		return "waits"
	case supervisor.Stopped:
		return "ended"
	case supervisor.Limited:
		return "limited"
	}
	return strings.TrimSpace(strings.ReplaceAll(e.Event, "_", " ") + " " + e.Task)
}

// output is where an agent's output goes.
func (s *screen) output(agent string) io.Writer {
	if s.c.json {
		return io.Discard
	}
	return &visible{to: writer(func(line string) { s.print(s.prefix(agent) + strings.TrimRight(line, "\r\n") + "\n") })}
}

type writer func(string)

func (w writer) Write(p []byte) (int, error) {
	w(string(p))
	return len(p), nil
}

// colours are those of the agents' names, each its own as far as they go.
var colours = []string{"36", "33", "35", "32", "34", "96", "93", "95", "92", "94"}

func (s *screen) prefix(agent string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.names, agent)
	if at < 0 {
		at = len(s.names)
		s.names = append(s.names, agent)
	}
	return s.paint.with(colours[at%len(colours)], pad(agent, len("code-reviewer-10")))
}

// print writes text above the line that stays, in one go.
func (s *screen) print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	var b strings.Builder
	if s.shown {
		b.WriteString("\r\x1b[K")
	}
	b.WriteString(text)
	if s.stays {
		b.WriteString(s.summary())
		s.shown = true
	}
	_, _ = io.WriteString(s.out, b.String()) // whoever read it has gone
}

// summary is the line that stays, within the terminal's width.
func (s *screen) summary() string {
	now := s.c.app.Now()
	parts := []string{s.tally}
	for _, name := range s.names {
		d := s.doing[name]
		parts = append(parts, fmt.Sprintf("%s %s %s", name, d.what, board.Span(now.Sub(d.since))))
	}
	p := s.c.page() // it may have become wider or narrower
	return p.bold(p.fit(strings.Join(parts, " | "), p.width-1))
}

// close takes the line away that stayed.
func (s *screen) close() {
	s.done.Wait()
	s.bell.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.shown {
		_, _ = io.WriteString(s.out, "\r\x1b[K")
	}
}
