package board

import (
	"fmt"
	"strings"
)

// Refusal is why an operation is not allowed. Exit code 1.
type Refusal struct {
	Code    string // stable: permission, wrong-state, unknown-task, invalid, session, lease, mode, limit, exists
	Message string // one sentence that names the thing
	Hint    string // the way out; never a destructive command
	Task    string // the task it is about, if any
	Holder  string // who holds that task, for the lease's end to be shown beside it
}

func (r *Refusal) Error() string { return r.Message }

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

func refuse(code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) *Refusal { return refuse("invalid", format, args...) }

// Refuse makes a refusal outside this package: an evidence that the edge gathered speaks against the operation.
func Refuse(code, message, hint string) *Refusal {
	return &Refusal{Code: code, Message: message, Hint: hint}
}

// WithLease adds to a refusal's message until when the holder that it names has its lease.
func WithLease(message, holder string, until Time, live bool) string {
	word := "lease until "
	if !live {
		word = "lease expired "
	}
	return strings.Replace(message, "by "+holder, "by "+holder+" ("+word+until.Std().Format("15:04Z")+")", 1)
}
