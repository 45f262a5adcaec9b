package board

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/text"
)

// Revert records that a human took the work of a MERGED task off integration: by a merge of Merged,
// which undoes the work on top of its own merge commit. Re-checkable: Merged has the merge commit of
// the task as its only parent, and the tree that integration had before it. Commit is as in Land.
type Revert struct {
	About
	Commit string `json:"commit"`
	Before string `json:"before"`
	Merged string `json:"merged"`
	Test   string `json:"test,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Op implements Payload.
func (p *Revert) Op() string { return "revert" }

// Check implements Payload.
func (p *Revert) Check(s *State, op Operation) error {
	t := s.Task(p.Task)
	if t.Status != Merged {
		return wrongState(t, op, []Status{Merged})
	}
	if e := t.Last(EventReverted); e != nil {
		return refuse(CodeExists, "%s was reverted already, by %.10s", t.ID, e.Commit).on(t).
			Advise("its work returns with a task of its own: %s", ActOn("add-task"))
	}
	if t.MergedOn() == "" {
		return refuse(CodeMissing, "the board does not know what integration was before the merge of %s", t.ID).on(t).
			Advise("revert %.10s by hand on a branch of integration, then: %s", t.MergeCommit, ActOn("land", "COMMIT"))
	}
	return s.computed(t, p.Before, p.Commit, p.Merged, p.Test)
}

// computed refuses a move of integration to a merge that can't be one, or that lacks a required test.
func (s *State) computed(t *Task, before, after, merged, test string) error {
	for _, c := range [][2]string{{"before", before}, {"commit", after}, {"merged", merged}} {
		if err := fullID(c[0], c[1]); err != nil {
			return err
		}
	}
	if before == after || before == merged {
		return refuse(CodeEmpty, "integration is at %.10s already", before)
	}
	if s.Config().RequireIntegrationTest && test == "" {
		return s.needsTest(t)
	}
	return nil
}

// Apply implements Payload.
func (p *Revert) Apply(s *State, op Operation) {
	s.leftAt(p.Commit)
	e := s.editTask(p.Task).event(op, EventReverted)
	e.Commit, e.Base, e.Reason = p.Commit, p.Before, p.Reason
}

// MergedOn is where integration was before the merge of a task, "" if unknown.
func (t *Task) MergedOn() string {
	if e := t.Last(EventMerged); e != nil {
		return e.Base
	}
	return ""
}

// DependOn lists the tasks that depend on a task, except ABANDONED and SUPERSEDED ones, sorted by id.
func DependOn(s *State, task string) (all []Brief) {
	s.EachBrief(func(b Brief) {
		if slices.Contains(b.DependsOn, task) && b.Status != Abandoned && b.Status != Superseded {
			all = append(all, b)
		}
	})
	slices.SortFunc(all, func(a, b Brief) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// Subject implements Payload.
func (p *Revert) Subject(before, _ *State, _ Operation) (string, string) {
	t := before.Task(p.Task)
	body := fmt.Sprintf("%s\n%s", text.Line(t.Description, 200), p.Reason)
	return fmt.Sprintf("integration from %.10s to %.10s", p.Before, p.Commit), body + tested(p.Test)
}

// tested is the line of a body about the test.
func tested(by string) string {
	if by == "" {
		return ""
	}
	return "\nIntegration test passed: " + by
}
