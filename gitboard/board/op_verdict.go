package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// The two verdicts.
const (
	VerdictApproved = "APPROVED"
	VerdictRejected = "REJECTED"
)

// Verdict is a reviewer's binding judgement of a submission. Attested: the worktree was clean and
// still on the commit.
type Verdict struct {
	About
	Verdict   string     `json:"verdict"`
	Commit    string     `json:"commit"`
	Reason    string     `json:"reason,omitempty"`  // a comment on an approval
	Checked   string     `json:"checked,omitempty"` // what was run, and how it ended; an agent's approval needs it
	Rejection *Rejection `json:"rejection,omitempty"`
	// Missing are the places of blockers that the submission lacks, a fact of the repository that
	// verify checks.
	Missing []string `json:"missing,omitempty"`
}

// Op implements Payload.
func (p *Verdict) Op() string { return "verdict" }

// Check implements Payload. ClaimReview has checked who may review (mayReview).
func (p *Verdict) Check(s *State, op Operation) error {
	t := s.Task(p.Task)
	switch {
	case t.ReviewingBy == "":
		return refuse(CodeWrongState, "nobody has claimed the review of %s", t.ID).on(t)
	case t.ReviewingBy != op.Actor.ID:
		return refuse(CodePermission, "%s is reviewed by %s, not by %s", t.ID, t.ReviewingBy, op.Actor.ID).on(t)
	case t.ReviewingAs != op.Actor.Identity():
		return refuse(CodePermission, "%s is reviewed by %s, not by %s", t.ID, t.ReviewingAs, op.Actor.Identity()).on(t).Way(ActOn("claim-review", t.ID))
	case p.Commit != t.ReviewCommit:
		return refuse(CodeStale, "the verdict is on %.10s, but %s was submitted at %.10s", p.Commit, t.ID, t.ReviewCommit).on(t)
	case p.Verdict == VerdictApproved && p.Rejection != nil:
		return invalid("an approval does not reject anything")
	case p.Verdict == VerdictApproved && op.Actor.Role != roles.Human:
		if strings.TrimSpace(p.Checked) == "" {
			return invalid("checked is missing: an approval reports what was run and how it ended").
				Way(ActOn("verdict", t.ID).With("verdict", VerdictApproved, "commit", t.ReviewCommit, "checked", exampleText))
		}
		return nil
	case p.Verdict == VerdictApproved:
		return nil
	case p.Verdict != VerdictRejected:
		return invalid("a verdict is APPROVED or REJECTED, not %s", quote(p.Verdict))
	case p.Reason != "":
		return invalid("the reason of a rejection is in its rejection, and this one has another")
	}
	if err := checkRejection(s, t, p.Rejection); err != nil {
		return err
	}
	for _, f := range p.Rejection.Blockers {
		place, said := f.place()
		switch lacks := slices.Contains(p.Missing, place); {
		case lacks && !said:
			return invalid("%.10s, which %s submitted, has no %s", p.Commit, t.AssignedTo, place).
				Advise("name a line that it has, or a missing place as such: %s%s", place, isMissing)
		case said && !lacks:
			return invalid("%.10s, which %s submitted, has %s: it isn't missing", p.Commit, t.AssignedTo, place)
		}
	}
	return nil
}

// Apply implements Payload.
func (p *Verdict) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	free(s, op.Actor.ID, t.ID, Idle)
	t.endReview()
	if p.Verdict == VerdictApproved {
		p.approve(s, t, op)
		return
	}
	t.Rejection, t.Approvals = p.Rejection, nil
	t.ReviewCyclesCurrent++
	t.ReviewCyclesTotal++
	t.become(Rejected, op)
	e := t.event(op, EventRejected)
	e.Commit, e.Iteration, e.Rejection, e.Checked, e.As = p.Commit, t.Iteration, p.Rejection, p.Checked, op.Actor.Identity()
	if t.ReviewCyclesTotal >= s.Config().ReviewCyclesFor(t) {
		deadlock(s, t, op)
	}
}

// approve adds an approval. The task becomes APPROVED with the last that its review policy asks
// for, and is READY_FOR_REVIEW until then.
func (p *Verdict) approve(s *State, t *Task, op Operation) {
	t.Approvals = append(slices.Clip(t.Approvals), Approval{Time: op.Time, By: op.Actor.ID, As: op.Actor.Identity()})
	name := EventApproval
	if ProgressOf(s, t).Missing() == 0 {
		t.ApprovedBy, t.Rejection = op.Actor.ID, nil
		t.become(Approved, op)
		name = EventApproved
	}
	e := t.event(op, name)
	e.Commit, e.Reason, e.Checked, e.As = p.Commit, p.Reason, p.Checked, op.Actor.Identity()
}

// deadlock blocks a task that reached its limit of review cycles.
func deadlock(s *State, t *Task, op Operation) {
	systemAnomaly(s, t.ID, "review_deadlock", map[string]Scalar{"review_cycles": Scalar(fmt.Sprint(t.ReviewCyclesTotal))}, op)
	addFailure(s, t, t.AssignedTo, op)
	block(s, t, string(roles.System), ReviewDeadlock, []string{
		"Does the coder address the feedback?", "Are the reviewer's criteria clear and steady?", "Is the task framed right?",
	}, op)
}

// Subject implements Payload.
func (p *Verdict) Subject(before, after *State, op Operation) (string, string) {
	line := fmt.Sprintf("%s by %s, %.10s", p.Verdict, cmp.Or(op.Actor.Name, op.Actor.ID), p.Commit)
	if n := len(before.Task(p.Task).OpenComments()); n > 0 {
		line += ", " + text.Plural(n, "comment")
	}
	switch t := after.Task(p.Task); t.Status {
	case Blocked:
		line += ", review deadlock"
	case ReadyForReview:
		progress := ProgressOf(after, t)
		line += fmt.Sprintf(", %d of %s", len(progress.Approvals), text.Plural(progress.Needed(), "approval"))
	}
	body := cmp.Or(p.Reason, p.Rejection.Text())
	if p.Checked != "" {
		body += "\n\nChecked: " + p.Checked
	}
	return line, strings.TrimSpace(body)
}
