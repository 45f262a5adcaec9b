package prompt

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/git-liza/git-liza/gitboard/text"
)

const indent = "  "

// Label writes a text after its label, or if it has several lines, indented on the next lines. It
// cuts the text to most bytes and then names rest, the command that shows all of it.
func (v *view) Label(label string, most int, text, rest string) string {
	start, whole := head(text, v.most(most))
	start = strings.TrimSpace(safe(start))
	switch {
	case start == "" && whole:
		return label + ": none"
	case whole && !strings.Contains(start, "\n") && len(start) <= v.most(most):
		return label + ": " + start
	}
	return label + ":\n" + v.Block(most, text, rest)
}

// Block writes a text indented, cut to most bytes.
func (v *view) Block(most int, text, rest string) string {
	var lines []string
	left := v.most(most)
	text, whole := head(text, left)
	for _, line := range strings.Split(strings.Trim(safe(text), "\n"), "\n") {
		line = strings.TrimRight(indent+line, " \t")
		if len(line) >= left {
			lines, whole = append(lines, clipped(line, left)), false
			break
		}
		left -= len(line) + 1
		lines = append(lines, line)
	}
	if !whole {
		lines = append(lines, indent+"[cut here; all of it: "+rest+"]")
	}
	return strings.Join(lines, "\n")
}

// Lines writes a list after its label, one item per line; it counts the items beyond the first
// most.
func (v *view) Lines(label string, most, width int, items []string, rest string) string {
	if len(items) == 0 {
		return label + ": none"
	}
	lines := []string{fmt.Sprintf("%s: %d", label, len(items))}
	most = max(1, v.most(most))
	for _, item := range items[:min(most, len(items))] {
		lines = append(lines, indent+v.Line(width, item))
	}
	if n := len(items) - most; n > 0 {
		lines = append(lines, fmt.Sprintf("%s[%d more: %s]", indent, n, rest))
	}
	return strings.Join(lines, "\n")
}

// Line turns a text into a single line of up to most bytes.
func (v *view) Line(most int, line string) string {
	most = max(40, v.most(most))
	line, whole := head(line, most)
	if line = text.Line(safe(line), max(len(line), 3)); len(line) > most || !whole {
		return clipped(line, most-3) + "..."
	}
	return line
}

// head returns the part of a text that is enough to fill most bytes, and whether that is all of it.
// The rest of a long text is not examined.
func head(text string, most int) (string, bool) {
	start := enough(text, most)
	return start, len(start) == len(strings.TrimRight(text, " \t"))
}

// enough returns as much of a text as a line of up to most bytes may need.
func enough(text string, most int) string { return clipped(text, 8*most+100) }

func (v *view) most(n int) int { return n * v.share / 100 }

// clipped is the beginning of a text, up to most bytes, without splitting a character.
func clipped(text string, most int) string {
	most = max(0, min(most, len(text)))
	for most > 0 && most < len(text) && !utf8.RuneStart(text[most]) {
		most--
	}
	return strings.TrimRight(text[:most], " \t")
}

// safe drops characters that hide or reorder others, and normalizes line breaks.
func safe(line string) string { return text.Lines(line) }
