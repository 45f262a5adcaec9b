package hooks

import (
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Pushed is a ref that a push moves on a remote (githooks, pre-push).
type Pushed struct {
	Ref    string
	Commit string // all zeros for a deletion
}

// ReadPushed reads the standard input of pre-push.
func ReadPushed(input string) (all []Pushed) {
	for line := range strings.Lines(input) {
		if words := strings.Fields(line); len(words) == 4 {
			all = append(all, Pushed{Ref: words[2], Commit: words[1]})
		}
	}
	return all
}

// PrePush refuses every push from an agent's environment: git liza itself pushes the refs of an
// operation together with it. An integration test may push the candidate that it tests, "" for
// none, to where a hosted CI finds it.
func PrePush(w Who, pushed []Pushed, candidate string) *board.Refusal {
	if w.ID == "" {
		if candidate != "" && len(pushed) > 0 && !slices.ContainsFunc(pushed, func(p Pushed) bool { return !p.isCandidate(candidate) }) {
			return nil
		}
		return refuse(board.CodePermission, "push as a human, from the project's root", "%s nobody pushes", w.where())
	}
	hint := board.ActOn("prime").Hint()
	if w.Task != "" {
		hint = board.Advice("%s hands work on, to other clones too", board.ActOn("submit", w.Task))
	}
	return board.Refusef(board.CodePermission, "%s pushes only through git liza", w.ID).Advise("%s", hint)
}

func (p Pushed) isCandidate(commit string) bool {
	return strings.HasPrefix(p.Ref, plumbing.CandidatePrefix) && (zero(p.Commit) || p.Commit == commit)
}
