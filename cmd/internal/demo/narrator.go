package demo

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
)

// narrator narrates a run. What several agents do at once is printed in one block per agent.
type narrator struct {
	out    io.Writer
	colour bool
	mu     sync.Mutex
}

const (
	labelWidth = 17
	lineWidth  = 110
)

// colours are the agents' colours; a human has none.
var colours = map[string]string{"planner-1": "35", "coder-1": "36", "coder-2": "34", "code-reviewer-1": "33"}

func (n *narrator) paint(code, text string) string {
	if !n.colour || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (n *narrator) line(text string) { fmt.Fprintln(n.out, strings.TrimRight(text, " ")) }

// step starts a numbered step.
func (n *narrator) step(number int, title string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.line("")
	n.line(n.paint("1", fmt.Sprintf("%2d. %s", number, title)))
}

// say prints the result of a step.
func (n *narrator) say(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.line("    " + n.paint("1", "=> "+fmt.Sprintf(format, args...)))
}

// ran prints what somebody typed, and the first lines of the output.
func (n *narrator) ran(who string, all []Ran) {
	n.mu.Lock()
	defer n.mu.Unlock()
	label := n.paint(colours[who], fmt.Sprintf("%-*s", labelWidth, who))
	margin := strings.Repeat(" ", 4+labelWidth)
	for _, r := range all {
		for i, l := range folded(r.Line, lineWidth-len(margin)) {
			if i == 0 {
				n.line("    " + label + "$ " + l)
			} else {
				n.line(margin + "      " + l)
			}
		}
		for _, l := range trimmed(r) {
			n.line(margin + "  " + n.paint("2", l))
		}
	}
}

// trimmed is the part of an output that is worth showing.
func trimmed(r Ran) []string {
	var lines []string
	for _, l := range strings.Split(r.Out, "\n") {
		if l = strings.ReplaceAll(strings.TrimRight(l, " \t\r"), "\t", "    "); l != "" {
			if text := []rune(l); len(text) > lineWidth {
				l = string(text[:lineWidth-3]) + "..."
			}
			lines = append(lines, l)
		}
	}
	if more := len(lines) - r.Show; more > 0 && r.Show > 0 {
		lines = lines[:r.Show]
		if more > 2 {
			lines = append(lines, fmt.Sprintf("(and %d lines)", more))
		}
	} else if r.Show == 0 {
		lines = nil
	}
	if r.Exit != 0 {
		lines = append(lines, fmt.Sprintf("(exit code %d)", r.Exit))
	}
	return lines
}

// folded wraps a command line to a width, as one might type it.
func folded(line []string, width int) []string {
	var out []string
	now := ""
	for i, word := range line {
		word = quoted(word)
		flag := i > 0 && strings.HasPrefix(word, "-")
		if flag && len(now)+1+len(word)+valueWidth(line[i+1:]) > width {
			out, now = append(out, now+` \`), ""
		}
		if now != "" {
			now += " "
		}
		now += word
	}
	return append(out, now)
}

// valueWidth is the width of a flag's value, which stays on the flag's line.
func valueWidth(rest []string) int {
	if len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return 0
	}
	return 1 + len(quoted(rest[0]))
}

func typed(line []string) string { return strings.Join(folded(line, 1<<20), " ") }

var plain = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./#-]+$|^\$EDITOR$`) })

func quoted(word string) string {
	switch {
	case plain().MatchString(word):
		return word
	case strings.HasPrefix(word, "$("), !strings.ContainsAny(word, "\"$`\\!"):
		return `"` + word + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
