package team

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/gitboard/watch"
	"github.com/git-liza/git-liza/roles/supervisor"
)

// Printer prints a supervisor's events and its agent's output.
type Printer struct {
	c    *call.Call
	bell *watch.Bell
}

// NewPrinter returns a printer for a command's output.
func NewPrinter(ctx context.Context, c *call.Call) *Printer {
	return &Printer{c, watch.NewBell(ctx, c.Board)}
}

// Close gives pending alarms a moment to be sent.
func (t *Printer) Close() { t.bell.Close() }

// Event prints an event on standard error, or with --json on standard output.
func (t *Printer) Event(e supervisor.Event) {
	ring(t.bell, e)
	if t.c.JSON {
		_ = t.c.PrintJSON(e) // an error means that the reader closed the pipe
		return
	}
	fmt.Fprintln(t.c.App.Stderr, eventLine(t.c.Paint(), e))
}

// Warn prints a warning about the run on standard error.
func (t *Printer) Warn(text string) { warn(t.c, text) }

func warn(c *call.Call, line string) {
	fmt.Fprintln(c.App.Stderr, "git liza: "+text.Visible(line)) // the reader may have closed the pipe
}

// Output is where an agent's output goes: to the terminal, unless a program reads.
func (t *Printer) Output(string) io.Writer {
	if t.c.JSON {
		return io.Discard
	}
	return visible(func(line string) { _, _ = io.WriteString(t.c.App.Stdout, line) })
}

// eventLine formats an event for a terminal. Its text is made safe before it is coloured.
func eventLine(p call.Paint, e supervisor.Event) string {
	line := p.With("2", e.Time.Local().Format("15:04:05")) + " " + p.Bold(text.Visible(e.Line()))
	if e.Prompt != "" {
		line += ", prompt " + text.Visible(e.Prompt)
	}
	return line
}

// ring sends an event that is an alarm to the bell.
func ring(b *watch.Bell, e supervisor.Event) {
	if e.Event == supervisor.Alarm {
		b.Ring(e.Time, alarm.Alarm{
			Rule: "supervisor", Level: alarm.Grave, Line: "SUPERVISOR: " + e.Text, Task: e.Task, Agent: e.Agent, Do: board.ActOn("logs", e.Agent).Hint(),
		})
	}
}

// visible passes on an agent's output line by line, without characters that would move the cursor.
// The transcript has everything.
func visible(print func(line string)) io.Writer {
	return &text.LineWriter{To: func(line string) { print(text.Visible(strings.ToValidUTF8(line, "\uFFFD"))) }}
}
