package report

import (
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
)

// NamedText is a text and its name.
type NamedText struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Unblocking informs the coder that continues about the last time the task was blocked: the reason,
// the questions and answers, and the attempts; and about the place of earlier work. It is nil for a
// task that was never blocked and has all its work on its branch.
func Unblocking(t *board.Task) (all []NamedText) {
	add := func(name, said string) {
		if said = strings.TrimSpace(said); said != "" {
			all = append(all, NamedText{name, said})
		}
	}
	e, kept := t.Last(board.EventUnblocked), t.KeptWork()
	if e != nil {
		if b := t.Last(board.EventBlocked); b != nil {
			add("was blocked", b.Reason)
		}
		add("asked", strings.Join(e.Questions, "\n"))
		add("answer", e.Answer)
		if e.Answer == "" {
			add("assessment", e.Reason)
		}
		add("attempted", strings.Join(e.Attempted, "\n"))
	}
	if kept != "" {
		add("old work", fmt.Sprintf("kept as %.10s, not in your worktree: git log %.10s", kept, kept))
	} else if e != nil && t.Worktree != "" {
		add("old work", "it is in your worktree")
	}
	return all
}

// Fix describes the failure that an integration fix repairs. It is nil for any other task.
func Fix(s *board.State, t *board.Task) []NamedText {
	e := t.Last(board.EventIntegrationFailed)
	switch {
	case !t.IntegrationFix:
		return nil
	case e == nil || e.Reason != board.FailTest:
		return []NamedText{{"fix", "an integration fix: make the work merge, nothing else"}}
	}
	what := "the integration test failed"
	if command := board.TestOf(s, t); command != "" {
		what += ": " + text.Line(command, 300)
	}
	output := strings.Split(strings.TrimSpace(e.Log), "\n")
	output = output[max(0, len(output)-6):]
	for i, line := range output {
		output[i] = text.Line(line, 160)
	}
	return []NamedText{{"fix", what}, {"output", strings.Join(output, "\n")}}
}
