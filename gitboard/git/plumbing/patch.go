package plumbing

import (
	"bytes"
	"iter"
	"strconv"
	"strings"
)

// Kinds of a PatchLine.
const (
	PatchFile   = 'f' // first line of a file: diff --git a/NAME b/NAME
	PatchHeader = 'h' // a line about the file before its first hunk
	PatchHunk   = '@'
	PatchSame   = ' '
	PatchAdded  = '+'
	PatchGone   = '-'
	PatchNote   = '\\' // no newline at the end of the file
)

// PatchLine is one line of a patch in git's format.
type PatchLine struct {
	Kind     byte
	Text     string // the whole line, without its line feed
	Path     string // path of the file, as far as known up to this line; Was is its old path
	Was      string
	Old, New int // line numbers in the old and new file, 0 if it is not in that file
	Next     int // number of the next line of the new file, counting this one
	Deleted  bool
}

// Content returns the line as it is in the file, without its mark.
func (l PatchLine) Content() string { return l.Text[min(1, len(l.Text)):] }

// PatchLines splits a patch into its lines. Lines before the first file are left out.
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

// Unresolved returns the places, as FILE:LINE, where a patch adds conflict markers as git writes them.
func Unresolved(patch string) (places []string) {
	begun := ""
	for l := range PatchLines(patch) {
		switch {
		case l.Kind == PatchFile:
			begun = ""
		case l.Kind != PatchAdded:
		case strings.HasPrefix(l.Content(), "<<<<<<< "):
			begun = l.Path + ":" + strconv.Itoa(l.New)
		case begun != "" && strings.HasPrefix(l.Content(), ">>>>>>> "):
			places, begun = append(places, begun), ""
		}
	}
	return places
}

// patchWalk is the current position in a patch.
type patchWalk struct {
	path, was string
	old, new  int // numbers of the next lines
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

// header parses a line between the first line of a file and its first hunk.
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

// nameOf returns the name in "a/NAME b/NAME". For a rename, the lines that follow have the names.
func nameOf(text string) string {
	if strings.HasPrefix(text, `"`) {
		if q, err := strconv.QuotedPrefix(text); err == nil {
			return strings.TrimPrefix(unquoted(q), "a/")
		}
	}
	return strings.TrimPrefix(text[:len(text)/2], "a/")
}

// unquoted reverts git's quoting of names.
func unquoted(name string) string {
	if strings.HasPrefix(name, `"`) {
		if text, err := strconv.Unquote(name); err == nil {
			return text
		}
	}
	return name
}

// hunkStarts returns the first line numbers of a hunk: 3 and 5 for @@ -3,4 +5,6 @@.
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

// CountLines counts the lines of a text. The last one need not end with a line feed.
func CountLines(text []byte) int {
	n := bytes.Count(text, []byte{'\n'})
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// LineOf returns the nth line of a text, counted from 1, or "" if there is none.
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
