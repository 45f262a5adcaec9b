package board

import "fmt"

// PROpen records the pull request that offers a goal's work.
type PROpen struct {
	Goal   string `json:"goal"`
	Kind   string `json:"kind"`
	Host   string `json:"host"`
	Repo   string `json:"repo"`
	Number int    `json:"number"`
	Base   string `json:"base"`
	Branch string `json:"branch"`
	Head   string `json:"head"`
	Draft  bool   `json:"draft,omitempty"`
	Body   string `json:"body,omitempty"`
}

// Op implements Payload.
func (p *PROpen) Op() string { return "pr-open" }

// Check implements Payload. A goal has one pull request at a time.
func (p *PROpen) Check(s *State, _ Operation) error {
	g, err := s.FindGoal(p.Goal)
	if err != nil {
		return err
	}
	if r := g.PullRequest; r.Live() {
		return refuse(CodeExists, "%s has a pull request already: %s", g.ID, r.Name()).Way(ActOn("pr-status", g.ID))
	}
	for _, e := range []struct{ field, text string }{{"kind", p.Kind}, {"host", p.Host}, {"repo", p.Repo}} {
		if err := word(e.field, e.text); err != nil {
			return err
		}
	}
	if p.Number < 1 {
		return invalid("number is %d; pull requests are numbered from 1", p.Number)
	}
	for _, name := range []string{p.Base, p.Branch} {
		if !validBranch(name) {
			return invalid("%s is no name of a branch", quote(name))
		}
	}
	return fullID("head", p.Head)
}

// Apply implements Payload.
func (p *PROpen) Apply(s *State, _ Operation) {
	r := &PullRequest{Kind: p.Kind, Host: p.Host, Repo: p.Repo, Number: p.Number, Base: p.Base, Branch: p.Branch, Head: p.Head, State: RequestOpen, Body: p.Body}
	if p.Draft {
		r.State = RequestDraft
	}
	edit[Goal](s, GoalPath(p.Goal)).PullRequest = r
}

// Subject implements Payload.
func (p *PROpen) Subject(_, _ *State, _ Operation) (string, string) {
	return fmt.Sprintf("%s: %s#%d at %s, %.10s for %s", p.Goal, p.Repo, p.Number, p.Host, p.Head, p.Base), ""
}
