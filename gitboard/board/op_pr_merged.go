package board

import (
	"fmt"
	"slices"
)

// PRMerged records that the other branch has a goal's work, and how it took it. With the setting
// goal_completion it completes a goal whose tasks are all finished.
type PRMerged struct {
	Goal   string `json:"goal"`
	Commit string `json:"commit"` // of the other branch
	Kind   string `json:"kind"`
	Head   string `json:"head"` // what it took
}

// mergedKinds are how a branch takes a pull request, as git shows it.
var mergedKinds = []string{"merge", "squash", "rebase", "contained"}

// Op implements Payload.
func (p *PRMerged) Op() string { return "pr-merged" }

// Check implements Payload.
func (p *PRMerged) Check(s *State, _ Operation) error {
	g, err := s.offered(p.Goal)
	if err != nil {
		return err
	}
	if g.PullRequest.Merged != nil {
		return refuse(CodeExists, "%s is merged already", g.PullRequest.Name())
	}
	if !slices.Contains(mergedKinds, p.Kind) {
		return invalid("%s is no way in which a branch takes work: %s", quote(p.Kind), list(mergedKinds))
	}
	if err := fullID("commit", p.Commit); err != nil {
		return err
	}
	return fullID("head", p.Head)
}

// Apply implements Payload.
func (p *PRMerged) Apply(s *State, op Operation) {
	r := s.editRequest(p.Goal)
	r.State, r.Merged = RequestMerged, &MergedRequest{Commit: p.Commit, Kind: p.Kind, Head: p.Head}
	if s.Config().GoalCompletion != completedByMerge {
		return
	}
	g := edit[Goal](s, GoalPath(p.Goal))
	if _, open := s.unfinished(g.ID); !open && g.Status == InProgress && s.Planned(g) {
		g.end(Completed, op)
	}
}

// Subject implements Payload.
func (p *PRMerged) Subject(before, _ *State, _ Operation) (string, string) {
	name := "its pull request"
	if g := before.Goal(p.Goal); g != nil && g.PullRequest != nil {
		name = g.PullRequest.Name()
	}
	return fmt.Sprintf("%s: %s, %s as %.10s", p.Goal, name, p.Kind, p.Commit), ""
}
