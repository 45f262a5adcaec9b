package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/text"
)

// Merge records the outcome of merging approved work into integration: landed, or failed and why.
// The ref of integration moves in the same transaction as this commit.
type Merge struct {
	About
	ReviewCommit string   `json:"review_commit"`
	Before       string   `json:"before"`                 // the candidate's base on integration
	MergeCommit  string   `json:"merge_commit,omitempty"` // integration's new tip; empty on failure
	MergeType    string   `json:"merge_type,omitempty"`   // fast-forward or merge-commit
	Drift        int      `json:"drift_commits"`          // commits on integration since the base
	Test         string   `json:"test,omitempty"`         // the integration test, if it ran
	Train        string   `json:"train,omitempty"`        // the tested last commit of its train
	Failure      string   `json:"failure,omitempty"`      // conflict or test
	Files        []string `json:"files,omitempty"`        // in conflict
	Log          string   `json:"log,omitempty"`          // the tail of the test's output
}

// NoTest is the value of the setting integration_test for a project without a test.
const NoTest = "none"

// Mergeable lists the tasks that wait to be merged, by priority and then by the time of approval.
func Mergeable(s *State) []string {
	var all []Brief
	s.EachBrief(func(b Brief) {
		if b.Status == Approved && !b.Paused {
			all = append(all, b)
		}
	})
	slices.SortFunc(all, func(a, b Brief) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.StatusChangedAt, b.StatusChangedAt), cmp.Compare(a.ID, b.ID))
	})
	ids := make([]string, len(all))
	for i, b := range all {
		ids[i] = b.ID
	}
	return ids
}

// How a merge can end.
const (
	FastForward     = "fast-forward"
	MergeCommitType = "merge-commit"
	FailConflict    = "conflict"
	FailTest        = "test"
)

// Op implements Payload.
func (p *Merge) Op() string { return "merge" }

// Check implements Payload.
func (p *Merge) Check(s *State, op Operation) error {
	t := s.Task(p.Task)
	if err := unpaused(t); err != nil {
		return err
	}
	if p.ReviewCommit != t.ReviewCommit {
		return refuse(CodeStale, "%s was approved at %.10s, not at %.10s", t.ID, t.ReviewCommit, p.ReviewCommit).on(t)
	}
	if err := fullID("before", p.Before); err != nil {
		return err
	}
	if p.Drift < 0 {
		return invalid("drift_commits is %d", p.Drift)
	}
	if s.Config().RequireIntegrationTest && p.Test == "" && p.Failure != FailConflict {
		return s.needsTest(t)
	}
	if p.Train != "" {
		if err := fullID("train", p.Train); err != nil {
			return err
		}
	}
	switch p.Failure {
	case "":
		return landing(p.MergeType, p.Before, p.MergeCommit, p.ReviewCommit)
	case FailConflict, FailTest:
		if p.Train != "" {
			return invalid("a merge that failed is on no train")
		}
		if p.MergeCommit != "" {
			return invalid("a merge that failed has no merge commit")
		}
		return nil
	}
	return invalid("%s is not a way for a merge to fail", quote(p.Failure))
}

// needsTest refuses to land a task without the integration test that the board requires.
func (s *State) needsTest(t *Task) error {
	if st := s.Team().Stage(t.InStage()); st != nil && st.Test != "" {
		return refuse(CodeTests, "an integration test is required, and the stage %s has none", st.Name).
			Advise("a human gives it a test: %s", ActOn("team"))
	}
	return refuse(CodeTests, "an integration test is required, and none is set").
		Advise("%s, or add scripts/integration-test.sh", ActOn("config", "integration_test").With("value", "COMMAND"))
}

// Apply implements Payload.
func (p *Merge) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	if p.Failure == "" {
		s.landed(t, p.Before, p.MergeCommit, p.MergeType, p.Drift, op)
		free(s, t.AssignedTo, t.ID, Idle)
		return
	}
	t.DriftCommits = p.Drift
	t.become(IntegrationFailed, op)
	e := t.event(op, EventIntegrationFailed)
	e.Reason, e.Files, e.Log, e.Base = p.Failure, p.Files, p.Log, p.Before
	free(s, t.AssignedTo, t.ID, Idle)
}

// landing refuses a merge commit that can be neither the approved commit itself nor a merge of it.
// Only git knows whether the parents of a merge commit are exactly before and review: verify and
// the server check that.
func landing(mergeType, before, merged, review string) error {
	if err := fullID("merge_commit", merged); err != nil {
		return err
	}
	switch {
	case mergeType == FastForward && merged != review:
		return invalid("a fast-forward lands the approved commit %.10s itself, not %.10s", review, merged)
	case mergeType == MergeCommitType && (merged == review || merged == before):
		return invalid("a merge commit is neither the approved commit nor what was on integration before it")
	case mergeType != FastForward && mergeType != MergeCommitType:
		return invalid("%s is not a merge type", quote(mergeType))
	}
	return nil
}

func (s *State) landed(t *Task, before, commit, mergeType string, drift int, op Operation) {
	s.leftAt(commit)
	t.MergeCommit, t.DriftCommits, t.Worktree = commit, drift, ""
	t.become(Merged, op)
	e := t.event(op, EventMerged)
	e.Base, e.Commit, e.MergeType, e.Drift = before, commit, mergeType, drift
}

// Subject implements Payload.
func (p *Merge) Subject(before, _ *State, _ Operation) (string, string) {
	switch p.Failure {
	case FailConflict:
		return "not merged: conflict in " + text.Line(strings.Join(p.Files, ", "), 70), ""
	case FailTest:
		return "not merged: integration test failed", p.Log
	}
	t := before.Task(p.Task)
	body := fmt.Sprintf("%s\nWork by %s, approved by %s, drift %s.", text.Line(t.Description, 200), t.AssignedTo, t.ApprovedBy, text.Plural(p.Drift, "commit"))
	subject := fmt.Sprintf("%.10s, %s", p.MergeCommit, p.MergeType)
	if p.Train != "" {
		subject += fmt.Sprintf(", train %.10s", p.Train)
	}
	return subject, body + tested(p.Test)
}
