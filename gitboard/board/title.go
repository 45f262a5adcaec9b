package board

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-liza/git-liza/gitboard/text"
)

// MaxTitle is the maximum number of characters of a task's title.
const MaxTitle = 60

// Heading is the task's name in a list, a line of at most MaxTitle characters: its title, else the
// first sentence of its description.
func (t *Task) Heading() string { return heading(t.Title, t.Description) }

func heading(title, description string) string {
	if title == "" {
		title, _, _ = strings.Cut(strings.TrimSpace(description), "\n")
		for i := range title {
			if rest, ends := strings.CutPrefix(title[i:], ". "); ends {
				if r, _ := utf8.DecodeRuneInString(rest); !unicode.IsLower(r) { // else it ends an abbreviation
					title = title[:i]
					break
				}
			}
		}
		title = strings.TrimSuffix(title, ".")
	}
	return text.Line(title, MaxTitle)
}

// title refuses a title that isn't one short line. No title is right.
func title(text string) error {
	if n := utf8.RuneCountInString(text); n > MaxTitle || strings.Contains(text, "\n") || text != "" && strings.TrimSpace(text) == "" {
		return invalid("title must be one line of at most %d characters; it has %d", MaxTitle, n).Advise("details go into the description")
	}
	return nil
}
