package board

import (
	"time"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// Lease makes an agent the owner of a task until it expires. The package lease stores it. In a
// payload it is the lease as seen by the agent that took over: attested evidence that a claim could
// be taken, and nil attests that there was none.
type Lease struct {
	Agent     string `json:"agent"`
	Session   string `json:"session"`
	Task      string `json:"task,omitempty"`
	Expires   Time   `json:"expires"`
	Heartbeat Time   `json:"heartbeat"`
	Ended     string `json:"ended,omitempty"` // why it was ended before its time
}

// FreeAt is from when others may take over the holder's work: when the lease expired, or later by a
// time that is granted to holders whose lease was not ended on purpose.
func (l *Lease) FreeAt(granted time.Duration) Time {
	if l.Ended != "" {
		return l.Expires
	}
	return l.Expires.Add(granted)
}

// Evidence is embedded in the payload of every operation that may take over another agent's claim.
type Evidence struct {
	Lease *Lease `json:"lease,omitempty"`
}

// ShowLease adds a lease that was seen to the operation.
func (e *Evidence) ShowLease(l *Lease) { e.Lease = l }

// ShownLease is the lease that was seen, nil for none.
func (e *Evidence) ShownLease() *Lease { return e.Lease }

// AbandonedAfter is how long after the lease of a rejected task's author expired others may take
// the task, unless that lease was ended.
const AbandonedAfter = 30 * time.Second

var commitForm = formOf(`^[0-9a-f]{40}$`)

// fullID refuses a text that is not a full object id.
func fullID(field, oid string) error {
	if !commitForm.MatchString(oid) {
		return invalid("%s must be a full object id of 40 hex digits, not %s", field, quote(oid))
	}
	return nil
}

// lapsed refuses a take-over unless the holder's lease, as the evidence shows it, expired at least
// for_ ago. An agent that is not registered has no lease.
func lapsed(s *State, holder string, l *Lease, for_ time.Duration, op Operation) error {
	if holder == roles.HumanID {
		return refuse(CodeLease, "a human holds it, and no lease ends that").Advise("wait, or take another task")
	}
	agent := s.Agent(holder)
	if agent == nil || l == nil {
		return nil
	}
	if l.Agent != holder {
		return invalid("the lease shown is %s's, not %s's", l.Agent, holder)
	}
	if _, err := ParseTime(string(l.Expires)); err != nil {
		return invalid("the lease's end: %v", err)
	}
	at := op.Time
	if op.Clock != "" {
		// A fast clock sets the time of all later operations, but must not end a lease.
		at = min(at, op.Clock)
	}
	if free := l.FreeAt(for_); at < free {
		return refuse(CodeLease, "%s's lease runs until %s", holder, free)
	}
	return nil
}

func leaseOfActor(_ *State, op Operation, _ *Task) string { return op.Actor.ID }

// leaseOfClaim names the coder from whom a claim would take the task.
func leaseOfClaim(s *State, op Operation, t *Task) string {
	if t != nil && (t.Status == Claimed && !t.HandoffPending || t.Status == Rejected && t.AssignedTo != op.Actor.ID && !t.Freed && !s.busyElsewhere(t.Brief())) {
		return t.AssignedTo
	}
	return ""
}

// leaseOfHolder names another agent that works on a task or reviews it.
func leaseOfHolder(s *State, op Operation, t *Task) string {
	if t != nil && t.Status == Claimed && t.AssignedTo != op.Actor.ID {
		return t.AssignedTo
	}
	return leaseOfReviewer(s, op, t)
}

// leaseOfReviewer names another agent that reviews a task.
func leaseOfReviewer(_ *State, op Operation, t *Task) string {
	if t != nil && t.ReviewingBy != op.Actor.ID {
		return t.ReviewingBy
	}
	return ""
}
