package board

import "github.com/git-liza/git-liza/gitboard/roles"

// Release ends a coder's or a reviewer's claim: by its holder, by a human with Force, or by anyone
// after the holder's lease has expired. A human may keep a coder's work in place: then the next
// coder continues in the same worktree.
type Release struct {
	About
	Reason string `json:"reason,omitempty"`
	Force  bool   `json:"force,omitempty"`
	Kept   string `json:"kept,omitempty"` // the commit that holds the coder's work

	KeepWork bool `json:"keep_work,omitempty"` // worktree and branch stay
	Evidence
}

// Op implements Payload.
func (p *Release) Op() string { return "release" }

// Check implements Payload.
func (p *Release) Check(s *State, op Operation) error {
	t := s.Task(p.Task)
	holder := t.AssignedTo
	if t.Status == ReadyForReview {
		holder = t.ReviewingBy
		if holder == "" {
			return refuse(CodeWrongState, "nobody reviews %s", t.ID).on(t)
		}
	}
	if p.KeepWork {
		if err := mayKeepWork(t, op); err != nil {
			return err
		}
	}
	switch {
	case t.HandoffPending && !(p.Force && op.Actor.Role == roles.Human):
		return refuse(CodeWrongState, "%s is handed off: the next coder continues it", t.ID).on(t)
	case holder == op.Actor.ID:
		return nil
	case p.Force && op.Actor.Role != roles.Human:
		return refuse(CodePermission, "only a human releases a live claim by force").on(t)
	case p.Force:
		return required("reason", p.Reason)
	}
	if err := lapsed(s, holder, p.Lease, 0, op); err != nil {
		return err.(*Refusal).on(t)
	}
	return nil
}

func mayKeepWork(t *Task, op Operation) error {
	switch {
	case op.Actor.Role != roles.Human:
		return refuse(CodePermission, "only a human may leave the work of a claim to the next coder").on(t)
	case t.Status != Claimed:
		return refuse(CodeWrongState, "%s is %s: no coder works on it", t.ID, t.Status).on(t)
	case t.HandoffPending:
		return refuse(CodeWrongState, "%s is handed off: the next coder continues it", t.ID).on(t)
	}
	return nil
}

// Apply implements Payload.
func (p *Release) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	if t.Status == ReadyForReview {
		free(s, t.ReviewingBy, t.ID, Idle)
		t.event(op, EventReviewReleased).Reason = p.Reason
		t.endReview()
		return
	}
	free(s, t.AssignedTo, t.ID, Idle)
	e := t.event(op, EventCoderReleased)
	e.Reason, e.Kept = p.Reason, p.Kept
	if p.KeepWork {
		t.AssignedTo = ""
	} else {
		t.unclaim()
	}
	t.become(Unclaimed, op)
}

// Subject implements Payload.
func (p *Release) Subject(before, _ *State, op Operation) (string, string) {
	t := before.Task(p.Task)
	holder, what := t.AssignedTo, "claim"
	if t.Status == ReadyForReview {
		holder, what = t.ReviewingBy, "review claim"
	}
	if p.KeepWork {
		what += ", work kept for the next coder"
	}
	switch {
	case holder == op.Actor.ID:
		return holder + " gives up its " + what, p.Reason
	case p.Force:
		return "by force, " + holder + "'s " + what, p.Reason
	}
	return holder + "'s " + what + ", lease expired", p.Reason
}
