package board

import "github.com/git-liza/git-liza/roles"

// The ways to unblock.
const (
	UnblockFresh     = ""           // anyone begins afresh
	UnblockKeepWork  = "keep-work"  // the next coder goes on in the same worktree
	UnblockSameCoder = "same-coder" // the same coder goes on, review cycles start again
)

// Unblock lets a BLOCKED task go on.
type Unblock struct {
	About
	Mode       string `json:"mode,omitempty"`
	To         string `json:"to,omitempty"` // with keep-work: the one coder who may go on
	Assessment string `json:"assessment,omitempty"`
	Kept       string `json:"kept,omitempty"` // afresh: the commit that holds the old work
}

// Op implements Payload.
func (p *Unblock) Op() string { return "unblock" }

// Check implements Payload.
func (p *Unblock) Check(s *State, op Operation) error {
	t := s.Task(p.Task)
	if len(t.FailedBy) >= 2 && !reframed(t) {
		return refuse("exhausted", "two coders failed at %s (%s): its framing is presumed wrong", p.Task, all(t.FailedBy)).
			hint("amend done_when, scope or spec_ref first, or supersede it")
	}
	if t.BlockedReason == ReviewDeadlock && required("assessment", p.Assessment) != nil {
		return invalid("%s is in a review deadlock: say what you make of it", p.Task).hint("--assessment TEXT")
	}
	switch p.Mode {
	case UnblockFresh:
	case UnblockKeepWork, UnblockSameCoder:
		if t.Worktree == "" || t.BaseCommit == "" {
			return refuse("wrong-state", "%s has no work to go on with", p.Task).hint("git liza unblock %s", p.Task)
		}
	default:
		return invalid("%s is no way to unblock", quote(p.Mode))
	}
	if p.Mode == UnblockSameCoder {
		if s.Agent(t.AssignedTo) == nil {
			return refuse("wrong-state", "%s is not registered any more", t.AssignedTo).hint("git liza unblock %s --keep-work", p.Task)
		}
		if held := s.heldBy(t.AssignedTo); held != "" {
			return refuse("wrong-state", "%s works on %s now", t.AssignedTo, held).hint("git liza unblock %s --keep-work", p.Task)
		}
		if open := s.openDependencies(t); len(open) > 0 {
			return refuse("dependency", "%s waits for %s", t.ID, all(open)).on(t).hint("git liza unblock %s --keep-work", p.Task)
		}
	}
	if p.To != "" {
		if p.Mode != UnblockKeepWork {
			return invalid("a coder is named with keep-work only")
		}
		if !isCoder(p.To) {
			return invalid("%s is not a coder's id", quote(p.To))
		}
	}
	return nil
}

// reframed reports whether the definition changed in what matters since a coder failed last. That a human or
// a planner blocked the task since is nobody's failure.
func reframed(t *Task) bool {
	for i := len(t.History) - 1; i >= 0; i-- {
		switch e := t.History[i]; {
		case e.Event == EventBlocked && (isCoder(e.Agent) || e.Agent == string(roles.System)):
			return false
		case e.Was != nil && (e.Was.DoneWhen != "" || e.Was.Scope != "" || e.Was.SpecRef != ""):
			return true
		}
	}
	return false
}

// Apply implements Payload.
func (p *Unblock) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	if t.BlockedReason == ReviewDeadlock {
		logAnomaly(s, op.Actor.ID, t.ID, "review_deadlock", map[string]Scalar{"assessment": Scalar(p.Assessment)}, op)
	}
	t.clearBlock()
	t.dropReview()
	e := t.event(op, EventUnblocked)
	e.Reason, e.Kept = p.Assessment, p.Kept
	switch p.Mode {
	case UnblockSameCoder:
		t.ReviewCyclesCurrent = 0
		t.become(Claimed, op)
		occupy(s, t.AssignedTo, t.ID, Working)
	case UnblockKeepWork:
		t.AssignedTo, t.ReservedFor, t.ReviewCyclesCurrent = "", p.To, 0
		t.become(Unclaimed, op)
	default:
		t.unclaim()
		t.ReservedFor, t.ReviewCyclesCurrent = "", 0
		t.become(Unclaimed, op)
	}
}

// Subject implements Payload.
func (p *Unblock) Subject(_, after *State, _ Operation) (string, string) {
	switch p.Mode {
	case UnblockSameCoder:
		return after.Task(p.Task).AssignedTo + " goes on", p.Assessment
	case UnblockKeepWork:
		if p.To != "" {
			return "work kept for " + p.To, p.Assessment
		}
		return "work kept for the next coder", p.Assessment
	}
	return "to be begun afresh", p.Assessment
}

func isCoder(id string) bool {
	r, err := roles.Of(id)
	return err == nil && r == roles.Coder
}
