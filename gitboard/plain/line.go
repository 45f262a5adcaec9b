package plain

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Line makes one safe line of a text: what would break a line, hide or reorder characters becomes a
// space or goes; at most so many characters (3 or more).
func Line(text string, most int) string {
	text = strings.Join(strings.Fields(strings.Map(visible, text)), " ")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	cut := []rune(text)[:max(0, most-3)]
	return strings.TrimSpace(string(cut)) + "..."
}

// Cell makes a text safe for one cell of a Markdown table: one line, and nothing that Markdown would read.
func Cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "'").Replace(Line(text, 300))
}

var styles = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\x1b(?:\\[[0-9:;<=>?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\^_])")
})

// Unstyled drops the sequences by which a program colours what it prints and moves about on a terminal.
func Unstyled(text string) string {
	if !strings.ContainsRune(text, 0x1b) {
		return text
	}
	return styles().ReplaceAllString(text, "")
}

var bare = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-][A-Za-z0-9_@%+=:,./~-]*$`) })

// Quote makes one word of a text for a shell.
func Quote(text string) string {
	if bare().MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Hides reports whether a character moves a terminal's cursor or reorders what it shows. No name needs one.
func Hides(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// IsName reports whether the name or the address of a person shows as it is.
func IsName(name string) bool { return utf8.ValidString(name) && !strings.ContainsFunc(name, Hides) }

// Visible drops the characters of a text that hide or reorder others; lines stay.
func Visible(text string) string { return strings.Map(visible, strings.ReplaceAll(text, "\r\n", "\n")) }

func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r == '\r':
		return '\n'
	case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), unicode.Is(unicode.Cf, r) && r != 0x200D:
		return -1
	}
	return r
}

// Plural counts things: 1 task, 2 tasks.
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
