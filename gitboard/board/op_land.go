package board

import (
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/text"
)

// Land records a human's move of integration: to a commit, to a new commit on top that brings only
// some files, or to the merge of a commit. Files are all files that the commit changes; if it is
// empty, the commit may change any. A merge is computed and tested: Commit is the merge of Before and
// Merged, or Merged itself where that descends from Before.
type Land struct {
	Commit string   `json:"commit"`
	Before string   `json:"before"`
	Reason string   `json:"reason,omitempty"`
	Files  []string `json:"files,omitempty"`
	Merged string   `json:"merged,omitempty"`
	Test   string   `json:"test,omitempty"` // the integration test that passed, if one ran
}

// Op implements Payload.
func (p *Land) Op() string { return "land" }

// Check implements Payload.
func (p *Land) Check(s *State, _ Operation) error {
	if p.Merged != "" {
		return s.computed(&Task{}, p.Before, p.Commit, p.Merged, p.Test)
	}
	if err := commit("before", p.Before); err != nil {
		return err
	}
	if p.Before == p.Commit {
		return refuse(CodeEmpty, "integration is at %.10s already", p.Commit)
	}
	return commit("commit", p.Commit)
}

// Apply implements Payload.
func (p *Land) Apply(s *State, _ Operation) { s.leftAt(p.Commit) }

// Subject implements Payload.
func (p *Land) Subject(_, _ *State, _ Operation) (string, string) {
	line := fmt.Sprintf("integration from %.10s to %.10s", p.Before, p.Commit)
	switch {
	case p.Merged != "":
		line += fmt.Sprintf(", a merge of %.10s", p.Merged)
	case len(p.Files) > 0:
		line += ", " + text.Line(strings.Join(p.Files, ", "), 80)
	}
	return line, p.Reason + tested(p.Test)
}
