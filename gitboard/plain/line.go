package plain

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Line makes text a single safe line of at most the given number of characters (3 or more).
// Characters that would break the line, or hide or reorder others, are dropped or replaced by a
// space.
func Line(text string, most int) string {
	text = strings.Join(strings.Fields(strings.Map(visible, text)), " ")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	cut := []rune(text)[:max(0, most-3)]
	return strings.TrimSpace(string(cut)) + "..."
}

// Cell makes a text safe for a cell of a Markdown table: one line, without Markdown syntax.
func Cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "'").Replace(Line(text, 300))
}

var styles = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\x1b(?:\\[[0-9:;<=>?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\^_])")
})

// Unstyled removes the escape sequences with which a program colors its output and moves the
// cursor.
func Unstyled(text string) string {
	if !strings.ContainsRune(text, 0x1b) {
		return text
	}
	return styles().ReplaceAllString(text, "")
}

var bare = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-][A-Za-z0-9_@%+=:,./~-]*$`) })

// Quote quotes a text as one word for a shell.
func Quote(text string) string {
	if bare().MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Hides reports whether a character moves a terminal's cursor or reorders what it shows. No name
// needs one.
func Hides(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// IsName reports whether a person's name or address is displayed exactly as it is.
func IsName(name string) bool { return utf8.ValidString(name) && !strings.ContainsFunc(name, Hides) }

// Visible drops the characters of a text that hide or reorder others. It keeps line breaks.
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

// Plural formats a count: 1 task, 2 tasks.
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
