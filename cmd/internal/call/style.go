package call

import (
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Paint colours text, only on a terminal and not if NO_COLOR is set.
type Paint bool

func (c *Call) Paint() Paint {
	return Paint(c.App.Getenv("NO_COLOR") == "" && c.App.Getenv("TERM") != "dumb" && c.App.ToTerminal())
}

// ToTerminal reports whether the output goes to a terminal.
func (a *App) ToTerminal() bool { return IsTerminal(a.Stdout) }

func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (p Paint) With(code, text string) string {
	if !p {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p Paint) Bold(text string) string { return p.With("1", text) }

func (p Paint) Alarm(text string) string { return p.With("31", text) }

func (p Paint) Inverse(text string) string { return p.With("7", text) }

// State colours a task's status by the action that it requires.
func (p Paint) State(s board.Status, text string) string {
	switch s {
	case board.Blocked, board.IntegrationFailed, board.Rejected:
		return p.Alarm(text)
	case board.Claimed, board.ReadyForReview, board.Approved:
		return p.With("33", text)
	case board.Merged:
		return p.With("32", text)
	}
	return text
}

// Since describes how long ago a time was.
func Since(now time.Time, t board.Time) string { return board.Span(now.Sub(t.Std())) }

// Columns aligns rows; the last column is not padded.
func Columns(indent string, rows [][]string) []string {
	var widths []int
	for _, r := range rows {
		for i, cell := range r {
			if i >= len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Breadth(cell))
		}
	}
	var lines []string
	for _, r := range rows {
		var b strings.Builder
		b.WriteString(indent)
		for i, cell := range r {
			if i == len(r)-1 {
				b.WriteString(cell)
			} else {
				b.WriteString(Pad(cell, widths[i]+2))
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

func Pad(s string, width int) string {
	return s + strings.Repeat(" ", max(1, width-Breadth(s)))
}

func Prefixed(prefix string, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = prefix + l
	}
	return out
}

// Every makes JSON show an empty list as [] instead of null.
func Every[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func OrDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// First is the first argument, "" if there is none.
func First(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// Labelled is a list of lines: texts after their names; further lines of a text are indented like
// the first.
type Labelled []string

const labelWidth = 14

// Add adds a text, unless it is empty. Its line breaks are replaced, so that no text begins a line
// of its own when the list is printed.
func (l *Labelled) Add(name, line string) {
	if line = strings.TrimSpace(text.Lines(line)); line != "" {
		*l = append(*l, Pad(name, labelWidth)+strings.ReplaceAll(line, "\n", "\n"+strings.Repeat(" ", labelWidth)))
	}
}

// AddEach adds names, one a line.
func (l *Labelled) AddEach(name string, items []string) {
	lines := make([]string, len(items))
	for i, item := range items {
		lines[i] = text.Shown(item)
	}
	l.Add(name, strings.Join(lines, "\n"))
}
