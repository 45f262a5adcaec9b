package board

import (
	"fmt"
	"strings"
)

// PullRequest is how a goal's work is offered to another branch of the project at a host.
type PullRequest struct {
	Kind   string         `yaml:"kind"` // of the host: github, gitlab, gitea
	Host   string         `yaml:"host"`
	Repo   string         `yaml:"repo"`
	Number int            `yaml:"number"`
	Base   string         `yaml:"base"`
	Branch string         `yaml:"branch"`
	Head   string         `yaml:"head"` // the commit of integration that it offers
	State  string         `yaml:"state"`
	Body   string         `yaml:"body,omitempty"`   // the digest of the part of its text that is ours
	Rounds int            `yaml:"rounds,omitempty"` // of feedback
	Merged *MergedRequest `yaml:"merged,omitempty"`
}

// Issue is the issue of a host that a goal was made of.
type Issue struct {
	Host   string `yaml:"host" json:"host"`
	Repo   string `yaml:"repo" json:"repo"`
	Number int    `yaml:"number" json:"number"`
}

func (i *Issue) check() error {
	if i == nil {
		return nil
	}
	if err := word("host", i.Host); err != nil {
		return err
	}
	if i.Number < 1 {
		return invalid("number is %d; issues are numbered from 1", i.Number)
	}
	return word("repo", i.Repo)
}

// MergedRequest is how the other branch took the work, as git shows it.
type MergedRequest struct {
	Commit string `yaml:"commit"` // of the other branch
	Kind   string `yaml:"kind"`
	Head   string `yaml:"head"` // what it took
}

// States of a pull request on the board.
const (
	RequestDraft  = "draft"
	RequestOpen   = "open"
	RequestClosed = "closed"
	RequestMerged = "merged"
)

// MaxFeedback is how many rounds of feedback reach the planner before a human decides.
const MaxFeedback = 3

// offered returns a goal with a pull request.
func (s *State) offered(goal string) (*Goal, error) {
	g, err := s.FindGoal(goal)
	if err != nil {
		return nil, err
	}
	if g.PullRequest == nil {
		return nil, refuse(CodeUnknownRecord, "%s has no pull request", g.ID).Way(ActOn("pr-submit", g.ID))
	}
	return g, nil
}

// editRequest returns a copy of a goal's pull request that replaces it.
func (s *State) editRequest(goal string) *PullRequest {
	g := edit[Goal](s, GoalPath(goal))
	r := *g.PullRequest
	g.PullRequest = &r
	return &r
}

// Live reports whether a pull request may still be merged.
func (r *PullRequest) Live() bool {
	return r != nil && (r.State == RequestDraft || r.State == RequestOpen)
}

// Name is how texts call a pull request.
func (r *PullRequest) Name() string { return fmt.Sprintf("%s#%d", r.Repo, r.Number) }

// String is a pull request in one line.
func (r *PullRequest) String() string {
	line := r.Name() + ", " + r.State
	if r.Merged != nil {
		line += fmt.Sprintf(" into %s as %.10s (%s)", r.Base, r.Merged.Commit, r.Merged.Kind)
	}
	return line
}

// word refuses a text that is no single word of at most 200 bytes.
func word(field, text string) error {
	if text == "" || len(text) > 200 || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return invalid("%s is %s: it is one word of at most 200 bytes", field, quote(text))
	}
	return nil
}
