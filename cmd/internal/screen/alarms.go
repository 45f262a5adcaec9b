package screen

import (
	"fmt"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/notify"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/gitboard/watch"
)

// Alarms shows what a watch finds: alarms on standard error, or with --json on standard output, and
// on a terminal a status line with the time of the last look.
type Alarms struct {
	c        *call.Call
	terminal bool // standard error is a terminal
}

var _ watch.Screen = (*Alarms)(nil)

// NewAlarms returns the screen of a command.
func NewAlarms(c *call.Call) *Alarms {
	return &Alarms{c, call.IsTerminal(c.App.Stderr) && !c.JSON}
}

// clearLine removes the status line.
const clearLine = "\r\x1b[K"

// Begin implements watch.Screen.
func (s *Alarms) Begin(at board.Time, alerts, halts string) {
	if s.c.JSON {
		return
	}
	s.Line(string(at) + " watching; alarms are kept in " + alerts)
	if halts != "" {
		s.Line(halts)
	}
}

// End implements watch.Screen.
func (s *Alarms) End() {
	if s.terminal {
		fmt.Fprint(s.c.App.Stderr, clearLine)
	}
}

// Alarm implements watch.Screen.
func (s *Alarms) Alarm(n notify.Notice) error {
	if s.c.JSON {
		return s.c.PrintJSON(n)
	}
	s.line(string(n.Time)+"  "+watch.Line(n.Alarm), n.Level)
	return nil
}

// Line implements watch.Screen.
func (s *Alarms) Line(text string) { s.line(text, "") }

// line prints a line, coloured by its level.
func (s *Alarms) line(raw string, level alarm.Level) {
	raw = text.Visible(raw)
	if s.terminal {
		p := call.Paint(s.c.App.Getenv("NO_COLOR") == "" && s.c.App.Getenv("TERM") != "dumb")
		colour := map[alarm.Level]string{alarm.Warn: "33", alarm.Grave: "31", "": "0"}[level]
		raw = clearLine + p.With(colour, raw)
	}
	fmt.Fprintln(s.c.App.Stderr, raw)
}

// Looked implements watch.Screen.
func (s *Alarms) Looked(at time.Time, conditions int) {
	if s.terminal {
		fmt.Fprintf(s.c.App.Stderr, "%swatching: looked at %s, %s", clearLine, at.Local().Format("15:04:05"), text.Plural(conditions, "open condition"))
	}
}

// Beat implements watch.Screen. Without a terminal, a silent log might also be that of a dead
// process.
func (s *Alarms) Beat(at time.Time, conditions int) error {
	switch {
	case s.terminal:
	case s.c.JSON:
		return s.c.PrintJSON(map[string]any{"time": board.At(at), "watching": true, "conditions": conditions})
	default:
		s.Line(string(board.At(at)) + "  watching: " + text.Plural(conditions, "open condition"))
	}
	return nil
}
