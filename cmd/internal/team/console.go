package team

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/gitboard/watch"
	"github.com/git-liza/git-liza/roles/supervisor"
)

// Console is a team's terminal: one line for each event or line of output, with its agent's name,
// above a status line.
type Console struct {
	c     *call.Call
	out   io.Writer
	paint call.Paint
	stays bool // there is a terminal for the status line
	quiet bool // without what agents print
	done  sync.WaitGroup
	bell  *watch.Bell

	// Turned gets a value after an agent's event.
	Turned chan struct{}

	mu     sync.Mutex
	asks   bool     // a question waits for its answer, and output for that
	held   []string // the newest output that waits
	missed int      // how many pieces of output before them were dropped
	names  []string // of the agents, in order of appearance
	doing  map[string]doing
	tally  string
	shown  bool // the status line is displayed
	closed bool
}

// doing returns an agent's activity and its start.
type doing struct {
	what  string
	since time.Time
}

// NewConsole starts a console; it follows the board until the context ends. A quiet one leaves out
// what agents print.
func NewConsole(ctx context.Context, c *call.Call, quiet bool) (*Console, error) {
	s := &Console{c: c, quiet: quiet, out: c.App.Stdout, paint: c.Paint(), stays: c.App.ToTerminal() && !c.JSON && c.App.Getenv("TERM") != "dumb", doing: map[string]doing{}, Turned: make(chan struct{}, 1), bell: watch.NewBell(ctx, c.Board)}
	if !s.stays {
		return s, nil
	}
	changed, err := c.Board.Follow(ctx, time.Minute)
	if err != nil {
		return nil, err
	}
	s.done.Go(func() { s.follow(ctx, changed) })
	return s, nil
}

// follow updates the status line when the board changes, and with time.
func (s *Console) follow(ctx context.Context, changed <-chan struct{}) {
	clock := time.NewTicker(10 * time.Second)
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-clock.C:
		case <-changed:
			if v, err := s.c.Board.View(ctx); err == nil { // otherwise the supervisors report it
				s.count(v.State)
			}
		}
		s.print("")
	}
}

func (s *Console) count(state *board.State) {
	tally := supervisor.Tally(state, "")
	if mode := state.Control(); mode != nil && mode.Mode != board.Running {
		tally = string(mode.Mode) + ": " + tally
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tally = tally
}

// Event prints an event.
func (s *Console) Event(e supervisor.Event) {
	ring(s.bell, e)
	if s.c.JSON {
		s.mu.Lock()
		defer s.mu.Unlock()
		_ = s.c.PrintJSON(e) // an error means that the reader closed the pipe
		return
	}
	s.mu.Lock()
	if _, known := s.doing[e.Agent]; !known || e.Event != supervisor.Trouble && e.Event != supervisor.Repaired {
		s.doing[e.Agent] = doing{what(e), e.Time} // a trouble changes nothing about it
	}
	s.mu.Unlock()
	select {
	case s.Turned <- struct{}{}:
	default: // nobody has received the last one
	}
	s.print(s.prefix(e.Agent) + s.paint.With("2", e.Time.Local().Format("15:04:05")) + " " + text.Visible(e.Line()) + "\n")
}

// Warn prints what concerns the whole team, above the status line or on standard error.
func (s *Console) Warn(line string) {
	if s.stays {
		s.print("git liza: " + text.Visible(line) + "\n")
		return
	}
	warn(s.c, line)
}

// What an agent that does not work does.
const (
	idle  = "idle"
	waits = "waits"
	ended = "ended"
)

// plans is the activity of a planner at work.
const plans = "plans"

// what describes in one or two words what an agent does after an event.
func what(e supervisor.Event) string {
	switch e.Event {
	case supervisor.Started:
		if e.Task != "" {
			return e.Task
		}
		return plans
	case supervisor.Waiting:
		if e.Idle {
			return idle
		}
		return waits
	case supervisor.Stopped:
		return ended
	case supervisor.Limited:
		return "limited"
	}
	return strings.TrimSpace(strings.ReplaceAll(e.Event, "_", " ") + " " + e.Task)
}

// Output is where an agent's output goes.
func (s *Console) Output(agent string) io.Writer {
	if s.c.JSON || s.quiet {
		return io.Discard
	}
	return visible(func(line string) { s.print(s.prefix(agent) + strings.TrimRight(line, "\r\n") + "\n") })
}

// colours are the colours of agents' names, reused if there are more agents.
var colours = []string{"36", "33", "35", "32", "34", "96", "93", "95", "92", "94"}

func (s *Console) prefix(agent string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.names, agent)
	if at < 0 {
		at = len(s.names)
		s.names = append(s.names, agent)
	}
	return s.paint.With(colours[at%len(colours)], call.Pad(agent, len("code-reviewer-10")))
}

// print writes text above the status line in one write.
func (s *Console) print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if s.asks {
		if text == "" { // it only renews the status line
			return
		}
		if s.held = append(s.held, text); len(s.held) > heldMost {
			s.missed++
			s.held = s.held[1:]
		}
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
	_, _ = io.WriteString(s.out, b.String()) // an error means that the reader closed the pipe
}

// Plans reports whether a planner of this team is at work.
func (s *Console) Plans() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(slices.Collect(maps.Values(s.doing)), func(d doing) bool { return d.what == plans })
}

// heldMost is how many pieces of output, mostly lines, are shown after a question. Logs have all.
const heldMost = 200

// Ask shows lines and a question below them, and holds back all other output until a line answers
// it. given is false if ctx or the lines ended before.
func (s *Console) Ask(ctx context.Context, lines []string, question string, answers <-chan string) (answer string, given bool) {
	s.print(strings.Join(lines, "\n") + "\n")
	s.mu.Lock()
	if s.shown {
		_, _ = io.WriteString(s.out, "\r\x1b[K")
		s.shown = false
	}
	_, _ = io.WriteString(s.out, question)
	s.asks = true
	s.mu.Unlock()
	select {
	case <-ctx.Done():
	case answer, given = <-answers:
	}
	s.mu.Lock()
	held := strings.Join(s.held, "")
	if s.missed > 0 {
		held = fmt.Sprintf("(%s before: git liza logs)\n", text.Plural(s.missed, "line")) + held
	}
	if !given {
		held = "\n" + held
	}
	s.asks, s.held, s.missed = false, nil, 0
	s.mu.Unlock()
	s.print(held)
	return answer, given
}

// summary is the status line, for the terminal's width.
func (s *Console) summary() string {
	now := s.c.App.Now()
	var working, others []string
	for _, name := range s.names {
		d := s.doing[name]
		text := fmt.Sprintf("%s %s %s", name, d.what, board.Span(now.Sub(d.since)))
		switch d.what {
		case ended:
		case idle, waits:
			others = append(others, text)
		default:
			working = append(working, text)
		}
	}
	p := s.c.Page() // the terminal's size may have changed
	return p.Bold(p.Fit(fitting(s.tally, append(working, others...), p.Width-1), p.Width-1))
}

// fitting joins the parts that fit next to the first, and counts the rest.
func fitting(first string, parts []string, width int) string {
	const more = len(" | +999")
	line := first
	for i, part := range parts {
		room := width
		if i < len(parts)-1 {
			room -= more
		}
		if call.Breadth(line)+call.Breadth(part)+3 > room {
			return line + fmt.Sprintf(" | +%d", len(parts)-i)
		}
		line += " | " + part
	}
	return line
}

// Close removes the status line.
func (s *Console) Close() {
	s.done.Wait()
	s.bell.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.shown {
		_, _ = io.WriteString(s.out, "\r\x1b[K")
	}
}
