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
	// As is how earlier work of integration landed on the merged branch in another form, so that the
	// merge does not bring it a second time; nil if it did not.
	As   *LandedAs `json:"as,omitempty"`
	Test string    `json:"test,omitempty"` // the integration test that passed, if one ran
}

// LandedAs is a landing of integration on another branch by a squash or rebase: a merge of Head with
// Before, the commit before the landing, has the tree of Landed.
type LandedAs struct {
	Head   string `json:"head"`
	Landed string `json:"landed"`
	Before string `json:"before"`
	Kind   string `json:"kind"` // squash or rebase
}

func (a *LandedAs) check(p *Land) error {
	if p.Merged == "" || p.Merged == p.Commit {
		return invalid("a landing in another form is noted of a merge only")
	}
	if a.Kind != "squash" && a.Kind != "rebase" {
		return invalid("%s is not a form of landing: use squash or rebase", quote(a.Kind))
	}
	for _, c := range [][2]string{{"as.head", a.Head}, {"as.landed", a.Landed}, {"as.before", a.Before}} {
		if err := fullID(c[0], c[1]); err != nil {
			return err
		}
	}
	return nil
}

// Op implements Payload.
func (p *Land) Op() string { return "land" }

// Check implements Payload.
func (p *Land) Check(s *State, _ Operation) error {
	if p.As != nil {
		if err := p.As.check(p); err != nil {
			return err
		}
	}
	if p.Merged != "" {
		return s.computed(&Task{}, p.Before, p.Commit, p.Merged, p.Test)
	}
	if err := fullID("before", p.Before); err != nil {
		return err
	}
	if p.Before == p.Commit {
		return refuse(CodeEmpty, "integration is at %.10s already", p.Commit)
	}
	return fullID("commit", p.Commit)
}

// Apply implements Payload.
func (p *Land) Apply(s *State, _ Operation) { s.leftAt(p.Commit) }

// Subject implements Payload.
func (p *Land) Subject(_, _ *State, _ Operation) (string, string) {
	line := fmt.Sprintf("integration from %.10s to %.10s", p.Before, p.Commit)
	switch {
	case p.As != nil:
		line += fmt.Sprintf(", a merge of %.10s, where %.10s landed as %.10s (%s)", p.Merged, p.As.Head, p.As.Landed, p.As.Kind)
	case p.Merged != "":
		line += fmt.Sprintf(", a merge of %.10s", p.Merged)
	case len(p.Files) > 0:
		line += ", " + text.Line(strings.Join(p.Files, ", "), 80)
	}
	return line, p.Reason + tested(p.Test)
}
