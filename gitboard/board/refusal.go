package board

import (
	"fmt"
	"time"
)

// Refusal is why an operation is not allowed. Exit code 1.
type Refusal struct {
	Code    ErrorCode
	Message string   // one sentence that names the subject
	Hint    Hint     // how to proceed; never a destructive command
	Task    string   // the task it is about, if any
	Goal    string   // one of the goals that could be meant, if the caller named no goal
	Unknown string   // the id of a named task or agent that does not exist
	Holder  string   // the holder of that task
	Unread  []string // ids of the notes that must be read first
	Lease   *Lease   // the holder's, if it is why the task can't be claimed; the edge adds it
	Live    bool     // Lease has not expired
	// Ahead is by how much the clock was ahead with which Lease was renewed; 0 if it is no more than
	// clocks may differ.
	Ahead time.Duration
}

// Error returns the message, with the end of the holder's lease if known.
func (r *Refusal) Error() string {
	switch {
	case r.Lease == nil:
		return r.Message
	case r.Live && r.Ahead > 0:
		return fmt.Sprintf("%s; the lease of %s ends at %s, by a clock that is %s ahead of this one", r.Message, r.Holder, r.Lease.Expires, Span(r.Ahead))
	case r.Live:
		return r.Message + "; the lease of " + r.Holder + " ends at " + clockTime(r.Lease.Expires)
	}
	return r.Message + "; the lease of " + r.Holder + " expired at " + clockTime(r.Lease.Expires)
}

func clockTime(t Time) string { return t.Std().Format("15:04Z") }

// Advise adds a hint, in the form of Advice.
func (r *Refusal) Advise(format string, args ...any) *Refusal {
	r.Hint = Advice(format, args...)
	return r
}

// Way adds a hint that is a single act.
func (r *Refusal) Way(a Act) *Refusal { return r.Advise("%s", a) }

func (r *Refusal) on(t *Task) *Refusal {
	r.Task = t.ID
	switch t.Status {
	case Claimed:
		r.Holder = t.AssignedTo
	case ReadyForReview:
		r.Holder = t.ReviewingBy
	}
	return r
}

// refuse makes a refusal. Inlined in each rule, it would be 20 KB of the program.
//
//go:noinline
func refuse(code ErrorCode, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

//go:noinline
func invalid(format string, args ...any) *Refusal { return refuse(CodeInvalid, format, args...) }

// Refuse makes a refusal outside this package, because of evidence that the edge gathered. Its hint
// is a plain text.
func Refuse(code ErrorCode, message, hint string) *Refusal {
	return &Refusal{Code: code, Message: message, Hint: Hint{Text: hint}}
}

// Refusef is Refuse with a formatted message, and without a hint yet.
func Refusef(code ErrorCode, format string, args ...any) *Refusal {
	return refuse(code, format, args...)
}
