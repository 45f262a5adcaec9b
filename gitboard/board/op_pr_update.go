package board

import (
	"cmp"
	"fmt"
	"slices"
)

// PRUpdate records a change of a goal's pull request: a later commit of integration, its state, its
// text. An empty field stays as it is.
type PRUpdate struct {
	Goal  string `json:"goal"`
	Head  string `json:"head,omitempty"`
	State string `json:"state,omitempty"`
	Body  string `json:"body,omitempty"`
}

// Op implements Payload.
func (p *PRUpdate) Op() string { return "pr-update" }

// Check implements Payload.
func (p *PRUpdate) Check(s *State, _ Operation) error {
	g, err := s.offered(p.Goal)
	if err != nil {
		return err
	}
	r := *g.PullRequest
	if r.State == RequestMerged {
		return refuse(CodeWrongState, "%s is merged", r.Name())
	}
	if p.State != "" && !slices.Contains([]string{RequestDraft, RequestOpen, RequestClosed}, p.State) {
		return invalid("%s is no state of a pull request: %s, %s or %s", quote(p.State), RequestDraft, RequestOpen, RequestClosed)
	}
	if p.Head != "" {
		if err := fullID("head", p.Head); err != nil {
			return err
		}
	}
	if before := r; p.change(&r) == before {
		return refuse(CodeExists, "%s is recorded so already", r.Name())
	}
	return nil
}

// change makes the change.
func (p *PRUpdate) change(r *PullRequest) PullRequest {
	r.Head, r.State, r.Body = cmp.Or(p.Head, r.Head), cmp.Or(p.State, r.State), cmp.Or(p.Body, r.Body)
	return *r
}

// Apply implements Payload.
func (p *PRUpdate) Apply(s *State, _ Operation) {
	p.change(s.editRequest(p.Goal))
}

// Subject implements Payload.
func (p *PRUpdate) Subject(before, _ *State, _ Operation) (string, string) {
	g := before.Goal(p.Goal)
	if g == nil || g.PullRequest == nil {
		return p.Goal, ""
	}
	r := *g.PullRequest
	p.change(&r)
	return fmt.Sprintf("%s: %s is %s at %.10s", p.Goal, r.Name(), r.State, r.Head), ""
}
