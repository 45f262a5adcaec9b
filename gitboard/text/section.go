package text

import (
	"strings"
	"unicode"
)

// Anchor is the name by which links refer to a heading of a Markdown text.
func Anchor(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(strings.TrimLeft(heading, "#"))) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	return b.String()
}

// Section returns the numbers of the first line of a Markdown section, and of the line after its
// subsections; false if no heading has the anchor.
func Section(markdown, anchor string) (first, end int, found bool) {
	level, n, code := 0, 0, false
	for line := range strings.Lines(markdown) {
		n++
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		hashes := len(line) - len(strings.TrimLeft(line, "#"))
		switch {
		case code || hashes == 0:
		case found && hashes <= level:
			return first, n, true
		case !found && anchor != "" && Anchor(line) == anchor:
			first, level, found = n, hashes, true
		}
	}
	return first, n + 1, found
}
