package prompt

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/git-liza/git-liza/gitboard/board"
)

const indent = "  "

// Label writes a text behind its label; one of several lines follows on the next lines, indented. It is cut
// at so many bytes, and says which command shows the rest.
func (v *view) Label(label string, most int, text, rest string) string {
	text = strings.TrimSpace(safe(text))
	switch {
	case text == "":
		return label + ": none"
	case !strings.Contains(text, "\n") && len(text) <= v.most(most):
		return label + ": " + text
	}
	return label + ":\n" + v.Block(most, text, rest)
}

// Block writes a text indented, cut at so many bytes.
func (v *view) Block(most int, text, rest string) string {
	var lines []string
	left := v.most(most)
	for _, line := range strings.Split(strings.Trim(safe(text), "\n"), "\n") {
		line = strings.TrimRight(indent+line, " \t")
		if len(line) >= left {
			return strings.Join(append(lines, clipped(line, left), indent+"[cut here; all of it: "+rest+"]"), "\n")
		}
		left -= len(line) + 1
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// Lines writes a list behind its label, an item a line; of too many it counts the rest.
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

// Line makes one line of at most so many bytes of a text.
func (v *view) Line(most int, text string) string {
	text = board.Line(safe(text), max(len(text), 3))
	if most = max(40, v.most(most)); len(text) > most {
		return clipped(text, most-3) + "..."
	}
	return text
}

func (v *view) most(n int) int { return n * v.share / 100 }

// clipped is the beginning of a text, at most so many bytes, with no character cut in two.
func clipped(text string, most int) string {
	most = max(0, min(most, len(text)))
	for most > 0 && most < len(text) && !utf8.RuneStart(text[most]) {
		most--
	}
	return strings.TrimRight(text[:most], " \t")
}

var breaks = strings.NewReplacer("\u2028", "\n", "\u2029", "\n")

// safe drops the characters that hide or reorder others, and makes every break of a line a plain one.
func safe(text string) string { return breaks.Replace(board.Visible(text)) }
