package board

import "fmt"

// FinishMerge records a merge whose first half stands already: integration holds the approved commit, and
// the board doesn't say so. Re-checkable: ReviewCommit is an ancestor of MergeCommit.
type FinishMerge struct {
	About
	ReviewCommit string `json:"review_commit"`
	MergeCommit  string `json:"merge_commit"`
	MergeType    string `json:"merge_type"`
	Drift        int    `json:"drift_commits"`
}

// Op implements Payload.
func (p *FinishMerge) Op() string { return "finish-merge" }

// Check implements Payload.
func (p *FinishMerge) Check(s *State, _ Operation) error {
	if t := s.Task(p.Task); p.ReviewCommit != t.ReviewCommit {
		return refuse("stale", "%s was approved at %.10s, not at %.10s", t.ID, t.ReviewCommit, p.ReviewCommit).on(t)
	}
	if p.MergeType != FastForward && p.MergeType != MergeCommitType {
		return invalid("%s is no merge type", quote(p.MergeType))
	}
	return commit("merge_commit", p.MergeCommit)
}

// Apply implements Payload.
func (p *FinishMerge) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	landed(t, p.MergeCommit, p.MergeType, p.Drift, op)
	free(s, t.AssignedTo, t.ID, Idle)
}

// Subject implements Payload.
func (p *FinishMerge) Subject(_, _ *State, _ Operation) (string, string) {
	return fmt.Sprintf("%.10s, found on integration", p.MergeCommit), ""
}
