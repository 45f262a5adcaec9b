package board

import (
	"cmp"
	"fmt"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// FinishMerge records a merge whose first half exists already: integration has the approved commit,
// but the board doesn't record it. It doesn't justify moving integration. Re-checkable: MergeCommit
// is the approved commit itself, or a merge of exactly Before and the approved commit, and is on
// integration.
type FinishMerge struct {
	About
	ReviewCommit string `json:"review_commit"`
	Before       string `json:"before,omitempty"` // the first parent of a merge commit; empty for a fast-forward
	MergeCommit  string `json:"merge_commit"`
	MergeType    string `json:"merge_type"`
	Drift        int    `json:"drift_commits"`
}

// Op implements Payload.
func (p *FinishMerge) Op() string { return "finish-merge" }

// Check implements Payload.
func (p *FinishMerge) Check(s *State, op Operation) error {
	if t := s.Task(p.Task); p.ReviewCommit != t.ReviewCommit {
		return refuse(CodeStale, "%s was approved at %.10s, not at %.10s", t.ID, t.ReviewCommit, p.ReviewCommit).on(t)
	}
	if s.Config().RequireIntegrationTest && (op.Actor.Role == roles.Coder || op.Actor.Role == roles.Planner) {
		return refuse(CodeTests, "an integration test is required, and a %s can't vouch that %.10s passed it", op.Actor.Role, p.MergeCommit).
			Advise("a reviewer or a human looks: %s", ActOn("doctor").With("fix", ""))
	}
	if p.Drift < 0 {
		return invalid("drift_commits is %d", p.Drift)
	}
	if p.MergeType == FastForward && p.Before != "" {
		return invalid("a fast-forward that is finished names no commit before it")
	}
	if p.MergeType == MergeCommitType {
		if err := fullID("before", p.Before); err != nil {
			return err
		}
	}
	return landing(p.MergeType, p.Before, p.MergeCommit, p.ReviewCommit)
}

// Apply implements Payload.
func (p *FinishMerge) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	s.landed(t, cmp.Or(p.Before, t.ReviewBase), p.MergeCommit, p.MergeType, p.Drift, op)
	free(s, t.AssignedTo, t.ID, Idle)
}

// Subject implements Payload.
func (p *FinishMerge) Subject(_, _ *State, _ Operation) (string, string) {
	return fmt.Sprintf("%.10s, found on integration", p.MergeCommit), ""
}
