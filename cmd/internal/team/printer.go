package team

import (
	"fmt"
	"io"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/gitboard/watch"
	"github.com/git-liza/git-liza/roles/supervisor"
)

// Printer prints a supervisor's events, and what its agent prints.
type Printer struct {
	c    *edge.Call
	bell *watch.Bell
}

// NewPrinter is a printer to where a command prints.
func NewPrinter(c *edge.Call) *Printer { return &Printer{c, watch.NewBell(c.Ctx, c.Opened)} }

// Close gives alarms that are on their way a moment.
func (t *Printer) Close() { t.bell.Close() }

// Event prints an event on standard error, as JSON on standard output.
func (t *Printer) Event(e supervisor.Event) {
	ring(t.bell, e)
	if t.c.JSON {
		_ = t.c.PrintJSON(e) // its reader has gone
		return
	}
	fmt.Fprintln(t.c.App.Stderr, eventLine(t.c.Paint(), e))
}

// Warn prints what concerns the whole of it on standard error, whoever reads the events.
func (t *Printer) Warn(text string) { warn(t.c, text) }

func warn(c *edge.Call, text string) {
	fmt.Fprintln(c.App.Stderr, "git liza: "+plain.Visible(text)) // its reader may have gone
}

// Output is where an agent's output goes: to the terminal, unless a program reads.
func (t *Printer) Output(string) io.Writer {
	if t.c.JSON {
		return io.Discard
	}
	return &visible{to: t.c.App.Stdout}
}

// eventLine is an event on a terminal: first what it says is made visible, and then it is coloured.
func eventLine(p edge.Paint, e supervisor.Event) string {
	line := p.With("2", e.Time.Local().Format("15:04:05")) + " " + p.Bold(plain.Visible(e.Line()))
	if e.Prompt != "" {
		line += ", prompt " + plain.Visible(e.Prompt)
	}
	return line
}

// ring sends the alarm that an event may be where those of a watch go.
func ring(b *watch.Bell, e supervisor.Event) {
	if e.Event == supervisor.Alarm {
		b.Ring(e.Time, alarm.Alarm{
			Rule: "supervisor", Level: alarm.Grave, Line: "SUPERVISOR: " + e.Text, Task: e.Task, Agent: e.Agent, Do: "git liza logs " + e.Agent,
		})
	}
}

// visible passes an agent's output on, line by line, without what would move the cursor.
type visible struct {
	to   io.Writer
	rest string
}

func (v *visible) Write(p []byte) (int, error) {
	lines := strings.SplitAfter(v.rest+string(p), "\n")
	v.rest = lines[len(lines)-1]
	if len(v.rest) > 64<<10 { // a line without end
		lines, v.rest = append(lines, ""), ""
	}
	for _, line := range lines[:len(lines)-1] {
		_, _ = io.WriteString(v.to, plain.Visible(strings.ToValidUTF8(line, "\uFFFD"))) // the transcript has it all
	}
	return len(p), nil
}
