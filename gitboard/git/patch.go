package git

import (
	"bytes"
	"iter"
	"strconv"
	"strings"
)

// The kinds of a PatchLine.
const (
	PatchFile   = 'f' // begins a file: diff --git a/NAME b/NAME
	PatchHeader = 'h' // what is said about a file before its first change
	PatchHunk   = '@'
	PatchSame   = ' '
	PatchAdded  = '+'
	PatchGone   = '-'
	PatchNote   = '\\' // no newline at the end of the file
)

// PatchLine is a line of a patch as git writes it.
type PatchLine struct {
	Kind     byte
	Text     string // all of it, without its line feed
	Path     string // of the file, as far as the lines up to this one say; Was: its name before
	Was      string
	Old, New int // the line's numbers in both files, 0 where it is in none
	Next     int // the number of the next line of the new file, from this one on
	Deleted  bool
}

// Content is the line as it is in the file, without its mark.
func (l PatchLine) Content() string { return l.Text[min(1, len(l.Text)):] }

// PatchLines takes a patch apart, line by line. What comes before its first file is left out.
func PatchLines(patch string) iter.Seq[PatchLine] {
	return func(yield func(PatchLine) bool) {
		w := patchWalk{}
		for line := range strings.Lines(patch) {
			if l, is := w.line(strings.TrimSuffix(line, "\n")); is && !yield(l) {
				return
			}
		}
	}
}

// patchWalk is where in a patch the walk is.
type patchWalk struct {
	path, was string
	old, new  int // the numbers of the next line
	inFile    bool
	inHunk    bool
	deleted   bool
}

func (w *patchWalk) line(text string) (PatchLine, bool) {
	l := PatchLine{Text: text}
	switch {
	case strings.HasPrefix(text, "diff --git "):
		*w = patchWalk{inFile: true}
		w.path = nameOf(strings.TrimPrefix(text, "diff --git "))
		w.was, l.Kind = w.path, PatchFile
	case !w.inFile:
		return l, false
	case strings.HasPrefix(text, "@@ "):
		w.old, w.new = hunkStarts(text)
		w.inHunk, l.Kind = true, PatchHunk
	case !w.inHunk:
		w.header(text)
		l.Kind = PatchHeader
	case strings.HasPrefix(text, "+"):
		l.Kind, l.New, l.Next = PatchAdded, w.new, w.new
		w.new++
	case strings.HasPrefix(text, "-"):
		l.Kind, l.Old, l.Next = PatchGone, w.old, w.new
		w.old++
	case strings.HasPrefix(text, `\`):
		l.Kind = PatchNote
	default:
		l.Kind, l.Old, l.New, l.Next = PatchSame, w.old, w.new, w.new
		w.old, w.new = w.old+1, w.new+1
	}
	l.Path, l.Was, l.Deleted = w.path, w.was, w.deleted
	return l, true
}

// header takes a line between the name of a file and its first change.
func (w *patchWalk) header(text string) {
	side := func(prefix string, name *string) {
		rest, is := strings.CutPrefix(text, prefix)
		if !is || rest == "/dev/null" {
			return
		}
		if _, path, found := strings.Cut(unquoted(strings.TrimSuffix(rest, "\t")), "/"); found {
			*name = path
		}
	}
	side("--- ", &w.was)
	side("+++ ", &w.path)
	w.deleted = w.deleted || text == "+++ /dev/null"
	if name, is := strings.CutPrefix(text, "rename from "); is {
		w.was = unquoted(name)
	}
	if name, is := strings.CutPrefix(text, "rename to "); is {
		w.path = unquoted(name)
	}
}

// nameOf is the name in "a/NAME b/NAME"; of a rename the lines below say it.
func nameOf(text string) string {
	if strings.HasPrefix(text, `"`) {
		if q, err := strconv.QuotedPrefix(text); err == nil {
			return strings.TrimPrefix(unquoted(q), "a/")
		}
	}
	return strings.TrimPrefix(text[:len(text)/2], "a/")
}

// unquoted undoes git's quoting of names.
func unquoted(name string) string {
	if strings.HasPrefix(name, `"`) {
		if text, err := strconv.Unquote(name); err == nil {
			return text
		}
	}
	return name
}

// hunkStarts are the first line numbers of a hunk: @@ -3,4 +5,6 @@.
func hunkStarts(line string) (old, new int) {
	for _, word := range strings.Fields(line) {
		number, _, _ := strings.Cut(word[1:], ",")
		n, err := strconv.Atoi(number)
		switch {
		case err != nil:
		case word[0] == '-' && old == 0:
			old = n
		case word[0] == '+' && new == 0:
			return old, n
		}
	}
	return old, new
}

// CountLines counts the lines of a text; the last one need not end with a line feed.
func CountLines(text []byte) int {
	n := bytes.Count(text, []byte{'\n'})
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// LineOf is the nth line of a text, counted from 1; "" where there is none.
func LineOf(text []byte, n int) string {
	for i := 1; i < n; i++ {
		_, rest, found := bytes.Cut(text, []byte{'\n'})
		if !found {
			return ""
		}
		text = rest
	}
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	return strings.TrimSuffix(string(line), "\r")
}
