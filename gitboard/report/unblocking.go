package report

import (
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
)

// NamedText is a text and its name.
type NamedText struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Unblocking informs the coder that continues about the last time the task was blocked: the reason,
// the questions and answers, the attempts, and the place of the work of that time. It is nil for a
// task that was never blocked.
func Unblocking(t *board.Task) []NamedText {
	e := t.Last(board.EventUnblocked)
	if e == nil {
		return nil
	}
	var all []NamedText
	add := func(name, text string) {
		if text = strings.TrimSpace(text); text != "" {
			all = append(all, NamedText{name, text})
		}
	}
	if b := t.Last(board.EventBlocked); b != nil {
		add("was blocked", b.Reason)
	}
	add("asked", strings.Join(e.Questions, "\n"))
	add("answer", e.Answer)
	if e.Answer == "" {
		add("assessment", e.Reason)
	}
	add("attempted", strings.Join(e.Attempted, "\n"))
	if e.Kept != "" {
		add("old work", fmt.Sprintf("kept as %.10s, not in your worktree: git log %.10s", e.Kept, e.Kept))
	} else if t.Worktree != "" {
		add("old work", "it is in your worktree")
	}
	return all
}
