package board

import (
	"cmp"
	"fmt"

	"github.com/git-liza/git-liza/gitboard/roles"
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
	if err := mayReview(s, t, op.Actor); err != nil {
		return err
	}
	if held := s.reviewedBy(op.Actor.ID); held != "" && held != t.ID && op.Actor.Role != roles.Human {
		return refuse(CodeWrongState, "%s reviews %s already", op.Actor.ID, held)
	}
	if held := s.heldBy(op.Actor.ID); held != "" {
		return refuse(CodeWrongState, "%s works on %s already", op.Actor.ID, held)
	}
	switch t.ReviewingBy {
	case "":
		return nil
	case op.Actor.ID:
		if t.ReviewingAs != op.Actor.Identity() {
			return nil // from one human to another
		}
		return refuse(CodeExists, "%s reviews %s already", op.Actor.ID, t.ID).on(t)
	}
	if err := lapsed(s, t.ReviewingBy, p.Lease, 0, op); err != nil {
		return refuse(CodeWrongState, "%s is %s", t.ID, t.describe()).on(t)
	}
	return nil
}

// Apply implements Payload.
func (p *ClaimReview) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	free(s, t.ReviewingBy, t.ID, Idle)
	t.ReviewingBy, t.ReviewingAs = op.Actor.ID, op.Actor.Identity()
	e := t.event(op, EventReviewClaimed)
	e.Commit, e.As = t.ReviewCommit, op.Actor.Identity()
	occupy(s, op.Actor.ID, t.ID, Reviewing)
}

// Subject implements Payload.
func (p *ClaimReview) Subject(_, after *State, op Operation) (string, string) {
	t := after.Task(p.Task)
	return fmt.Sprintf("%s reviews %.10s by %s", cmp.Or(op.Actor.Name, op.Actor.ID), t.ReviewCommit, t.AssignedTo), ""
}
