package gitio

import (
	"slices"
	"strings"
	"unicode"
)

// firstCause picks the line that tells a person why a child of the network
// failed. Of what git says that is its first error, with two exceptions: a line
// of the remote, when it is git liza's or there is no fatal one; and the line
// before the fatal one, when a program that git has started (ssh) wrote it.
func firstCause(stderr string) string {
	failure, remote, before := "", "", ""
	fatal := false
	for text := range strings.FieldsFuncSeq(stderr, func(c rune) bool { return c == '\n' || c == '\r' }) {
		text = strings.TrimSpace(text)
		if said, is := strings.CutPrefix(text, "remote:"); is {
			said = strings.TrimSpace(said)
			if said == "error:" {
				continue // some hosts begin with it, and say why on the next line
			}
			liza := strings.HasPrefix(said, "liza:")
			if liza && !strings.HasPrefix(remote, "remote: liza:") || remote == "" && words(said) && !progress(said) {
				remote = "remote: " + said
			}
			continue
		}
		kind, said, is := strings.Cut(text, ": ")
		switch {
		case is && (kind == "fatal" || kind == "error" || kind == "ssh"):
			if failure == "" {
				failure, fatal = said, kind == "fatal"
			}
		case kind == "warning" || strings.HasPrefix(text, "hint:") || progress(text) || !words(text):
		case failure == "":
			before = text
		}
	}
	switch {
	case strings.HasPrefix(remote, "remote: liza:"):
		return remote
	case fatal && before != "":
		return before
	case fatal && failure != unreadable || remote == "":
		return failure
	}
	return remote
}

// unreadable is what git says when another program has just said more.
const unreadable = "Could not read from remote repository."

// words reports whether a line has what a person's has; one of a web page has not.
func words(line string) bool {
	return strings.ContainsFunc(line, unicode.IsLetter) && !strings.HasPrefix(line, "<")
}

// progress reports whether a line is one by which either side counts, or tells where it is at.
func progress(line string) bool {
	first, _, _ := strings.Cut(line, " ")
	return slices.Contains(counted, strings.TrimSuffix(first, ":"))
}

var counted = []string{"Enumerating", "Counting", "Compressing", "Delta", "Resolving", "Unpacking", "Checking", "Receiving", "Writing", "Total", "Processing", "Pushing", "To", "From"}
