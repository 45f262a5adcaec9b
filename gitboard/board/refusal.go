package board

import "fmt"

// Refusal is why an operation is not allowed. Exit code 1.
type Refusal struct {
	Code    ErrorCode
	Message string // one sentence that names the thing
	Hint    string // the way out; never a destructive command
	Task    string // the task it is about, if any
	Unknown string // the id of a task or an agent that is named and does not exist
	Holder  string // who holds that task
	Lease   *Lease // the holder's, where it says why the task can't be had: the edge adds it
	Live    bool   // that lease has not expired
}

// Error is the message, with the end of the holder's lease where it is known.
func (r *Refusal) Error() string {
	switch {
	case r.Lease == nil:
		return r.Message
	case r.Live:
		return r.Message + "; the lease of " + r.Holder + " ends at " + clockTime(r.Lease.Expires)
	}
	return r.Message + "; the lease of " + r.Holder + " expired at " + clockTime(r.Lease.Expires)
}

func clockTime(t Time) string { return t.Std().Format("15:04Z") }

func (r *Refusal) hint(format string, args ...any) *Refusal {
	r.Hint = fmt.Sprintf(format, args...)
	return r
}

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

func refuse(code ErrorCode, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) *Refusal { return refuse(CodeInvalid, format, args...) }

// Refuse makes a refusal outside this package: an evidence that the edge gathered speaks against the operation.
func Refuse(code ErrorCode, message, hint string) *Refusal {
	return &Refusal{Code: code, Message: message, Hint: hint}
}
