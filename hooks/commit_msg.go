package hooks

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/gitboard/board"
)

// CommitMsg adds the trailers of the task and of its agent to a commit's message, replacing
// existing ones (from an amended or squashed commit, or forged). Anything that git will remove from
// the message stays where it is: comments, and everything from a scissors line on. comment is git's
// core.commentChar. An empty message stays empty, which ends the commit.
func CommitMsg(text, comment, task, agent string) string {
	if comment == "auto" {
		comment = chosen(text)
	}
	body, rest := split(text, comment)
	lines := slices.DeleteFunc(strings.Split(body, "\n"), isOurs)
	end := len(lines)
	for end > 0 && strings.TrimSpace(lines[end-1]) == "" {
		end--
	}
	if !slices.ContainsFunc(lines[:end], func(line string) bool { return strings.TrimSpace(line) != "" && !commented(line, comment) }) {
		return text
	}
	added := []string{board.TaskTrailer + ": " + task, board.AgentTrailer + ": " + agent}
	if !endsInTrailers(lines[:end], comment) {
		added = append([]string{""}, added...)
	}
	out := strings.Join(append(lines[:end:end], added...), "\n") + "\n"
	if rest != "" && strings.HasSuffix(body, "\n\n") {
		out += "\n"
	}
	return out + rest
}

// split separates what git will remove from the end of a message: comments and blank lines, and
// everything from the scissors line on.
func split(text, comment string) (body, rest string) {
	lines := strings.SplitAfter(text, "\n")
	end := len(lines)
	for i, line := range lines {
		if commented(line, comment) && strings.Contains(line, " ------------------------ >8 ------------------------") {
			end = i
			break
		}
	}
	for end > 0 && (strings.TrimSpace(lines[end-1]) == "" || commented(lines[end-1], comment)) {
		end--
	}
	for end < len(lines) && strings.TrimSpace(lines[end]) == "" && lines[end] != "" {
		end++ // blank lines before the comments belong to the body
	}
	return strings.Join(lines[:end], ""), strings.Join(lines[end:], "")
}

// chosen returns the comment character that git chose under "auto", which begins the last line.
func chosen(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := lines[len(lines)-1]; last != "" && strings.ContainsRune("#;@!$%^&|:", rune(last[0])) {
		return last[:1]
	}
	return "#"
}

// commented reports whether git treats a line as a comment.
func commented(line, comment string) bool { return strings.HasPrefix(line, comment) }

func isOurs(line string) bool {
	key, _, is := strings.Cut(line, ":")
	return is && (strings.EqualFold(key, board.TaskTrailer) || strings.EqualFold(key, board.AgentTrailer))
}

var trailer = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9-]+\s*:`) })

// endsInTrailers reports whether git reads trailers from the last paragraph, and that is not the
// subject. The last line is not blank. If only part of a paragraph looks like trailers, git may
// read those (git-interpret-trailers); here such a paragraph is followed by a separate one of ours.
func endsInTrailers(lines []string, comment string) bool {
	first := len(lines)
	for first > 0 && strings.TrimSpace(lines[first-1]) != "" {
		first--
	}
	before := slices.ContainsFunc(lines[:first], func(line string) bool { return strings.TrimSpace(line) != "" && !commented(line, comment) })
	if !before {
		return false
	}
	for i, line := range lines[first:] {
		folded := i > 0 && (line[0] == ' ' || line[0] == '\t')
		if !folded && !commented(line, comment) && !trailer().MatchString(line) && !strings.HasPrefix(line, "(cherry picked from commit ") {
			return false
		}
	}
	return true
}
