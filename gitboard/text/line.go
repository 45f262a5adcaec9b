package text

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
	var b strings.Builder
	b.Grow(min(len(text), max(0, most)))
	n, cut := 0, 0 // characters so far, and where the line ends if there are too many
	gap := false   // white space since the last character
	add := func(r rune) {
		if n == max(0, most-3) {
			cut = b.Len()
		}
		b.WriteRune(r)
		n++
	}
	for _, r := range text {
		if r = visible(r); r < 0 {
			continue
		}
		if unicode.IsSpace(r) {
			gap = true
			continue
		}
		if gap && n > 0 {
			add(' ')
		}
		gap = false
		if add(r); n > most {
			return strings.TrimSpace(b.String()[:cut]) + "..."
		}
	}
	return b.String()
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

// IsAddress reports whether an e-mail address is displayed exactly as it is, and holds no character
// that takes no room, which the names of some languages need.
func IsAddress(address string) bool {
	return IsName(address) && !strings.ContainsFunc(address, func(r rune) bool { return unicode.Is(unicode.Cf, r) })
}

// Visible drops the characters of a text that hide or reorder others. It keeps line breaks. The
// messages of the board's commits are made by it: another result is another format.
func Visible(text string) string { return strings.Map(visible, strings.ReplaceAll(text, "\r\n", "\n")) }

// Lines is Visible with the separators of lines and paragraphs as line breaks, too: for texts that
// are printed line by line.
func Lines(text string) string { return separators.Replace(Visible(text)) }

var separators = strings.NewReplacer("\u2028", "\n", "\u2029", "\n")

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

// Shown makes a line of a file safe to display without hiding a part of it: a character that
// Visible drops or takes for a line break is written as ^M, or as <U+202E>, and invalid UTF-8 as
// U+FFFD.
func Shown(line string) string {
	hidden := func(r rune) bool { return visible(r) != r || strings.ContainsRune("\n\u2028\u2029", r) }
	if utf8.ValidString(line) && !strings.ContainsFunc(line, hidden) {
		return line
	}
	var b strings.Builder
	for _, r := range line {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r < ' ' || r == 0x7F:
			b.WriteString("^" + string(r^0x40))
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// Plural formats a count: 1 task, 2 tasks.
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
