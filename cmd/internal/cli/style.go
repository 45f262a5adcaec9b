package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/git-liza/git-liza/gitboard/board"
)

// paint colours text for a terminal, and only there; NO_COLOR is honoured.
type paint bool

func (c *call) paint() paint {
	return paint(c.app.Getenv("NO_COLOR") == "" && c.app.Getenv("TERM") != "dumb" && c.toTerminal())
}

// toTerminal reports whether somebody reads what is printed as it comes.
func (c *call) toTerminal() bool { return isTerminal(c.app.Stdout) }

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (p paint) with(code, text string) string {
	if !p {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p paint) bold(text string) string { return p.with("1", text) }

func (p paint) alarm(text string) string { return p.with("31", text) }

func (p paint) inverse(text string) string { return p.with("7", text) }

// state colours a task's state by what it asks for.
func (p paint) state(s board.Status, text string) string {
	switch s {
	case board.Blocked, board.IntegrationFailed, board.Rejected:
		return p.alarm(text)
	case board.Claimed, board.ReadyForReview, board.Approved:
		return p.with("33", text)
	case board.Merged:
		return p.with("32", text)
	}
	return text
}

// since says how long ago a moment was.
func since(now time.Time, t board.Time) string { return board.Span(now.Sub(t.Std())) }

// columns aligns rows; the last column is as long as it is.
func columns(indent string, rows [][]string) []string {
	var widths []int
	for _, r := range rows {
		for i, cell := range r {
			if i >= len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], breadth(cell))
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
				b.WriteString(pad(cell, widths[i]+2))
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(1, width-breadth(s)))
}

func prefixed(prefix string, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = prefix + l
	}
	return out
}

// plural counts things: 1 task, 2 tasks.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// every is a list that JSON shows as [] when there is nothing in it.
func every[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// first is the first argument, "" when there is none.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// labelled is a list of lines, each text behind its name; further lines of a text are indented like the first.
type labelled []string

const labelWidth = 14

func (l *labelled) add(name, text string) {
	if text = strings.TrimSpace(text); text != "" {
		*l = append(*l, pad(name, labelWidth)+strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", labelWidth)))
	}
}
