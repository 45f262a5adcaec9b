package board

import (
	"fmt"
	"slices"
)

// ClaimReview gives the review of a submission to a reviewer.
type ClaimReview struct {
	About
	Evidence
}

// Op implements Payload.
func (p *ClaimReview) Op() string { return "claim-review" }

// Check implements Payload.
func (p *ClaimReview) Check(s *State, op Operation) error {
	t := s.Task(p.Task)
	if err := unpaused(t); err != nil {
		return err
	}
	if held := s.reviewedBy(op.Actor.ID); held != "" && held != t.ID {
		return refuse(CodeWrongState, "%s reviews %s already", op.Actor.ID, held)
	}
	if slices.Contains(t.Workers(), op.Actor.ID) || t.AssignedTo == op.Actor.ID {
		return refuse(CodePermission, "%s worked on %s and can't review it", op.Actor.ID, t.ID).on(t)
	}
	switch t.ReviewingBy {
	case "":
		return nil
	case op.Actor.ID:
		return refuse(CodeExists, "%s reviews %s already", op.Actor.ID, t.ID).on(t)
	}
	if err := lapsed(s, t.ReviewingBy, p.Lease, 0, op); err != nil {
		return refuse(CodeWrongState, "%s is %s", t.ID, t.standing()).on(t)
	}
	return nil
}

// Apply implements Payload.
func (p *ClaimReview) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	free(s, t.ReviewingBy, t.ID, Idle)
	t.ReviewingBy = op.Actor.ID
	t.event(op, EventReviewClaimed).Commit = t.ReviewCommit
	occupy(s, op.Actor.ID, t.ID, Reviewing)
}

// Subject implements Payload.
func (p *ClaimReview) Subject(_, after *State, op Operation) (string, string) {
	t := after.Task(p.Task)
	return fmt.Sprintf("%s reviews %.10s by %s", op.Actor.ID, t.ReviewCommit, t.AssignedTo), ""
}
