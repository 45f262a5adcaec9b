package child

import (
	"slices"
	"strings"
	"unicode"
)

// FirstCause picks the line of stderr that best explains to a person why a network command failed.
// That is git's first error, with two exceptions: a line from the remote, if git liza wrote it or
// git reported no fatal error; and the line before the fatal error, if a program that git started
// (ssh) wrote it.
func FirstCause(stderr string) string {
	failure, remote, before := "", "", ""
	fatal := false
	for text := range strings.FieldsFuncSeq(stderr, func(c rune) bool { return c == '\n' || c == '\r' }) {
		text = strings.TrimSpace(text)
		if said, is := strings.CutPrefix(text, "remote:"); is {
			said = strings.TrimSpace(said)
			if said == "error:" {
				continue // some hosts start with this and give the reason on the next line
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

// unreadable is git's message when another program has already reported the actual cause.
const unreadable = "Could not read from remote repository."

// words reports whether a line contains letters and is not HTML.
func words(line string) bool {
	return strings.ContainsFunc(line, unicode.IsLetter) && !strings.HasPrefix(line, "<")
}

// progress reports whether a line is a progress report or names the remote that git talks to.
func progress(line string) bool {
	first, _, _ := strings.Cut(line, " ")
	return slices.Contains(counted, strings.TrimSuffix(first, ":"))
}

var counted = []string{"Enumerating", "Counting", "Compressing", "Delta", "Resolving", "Unpacking", "Checking", "Receiving", "Writing", "Total", "Processing", "Pushing", "To", "From"}
