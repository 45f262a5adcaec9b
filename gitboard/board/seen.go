package board

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// Version is a short text that changes with the content of a task that people decide on: its
// definition, its state and why it is blocked. What is only recorded about it, such as notes, does
// not matter.
func (t *Task) Version() string {
	return versionOf(t.Definition(), t.Status, t.StatusChangedAt, t.BlockedReason, t.BlockedQuestions)
}

// HaltVersion is the version of what halts the board: a pause, a checkpoint or the breaker's
// trigger. In Operation.Seen it is called control.
func HaltVersion(s *State) string {
	var trigger *Trigger
	if b := s.Breaker(); b != nil { // else s.Err reports it
		trigger = b.CurrentTrigger
	}
	return versionOf(s.Control(), trigger)
}

// versionOf hashes texts, numbers and records of them.
func versionOf(parts ...any) string {
	data, _ := json.Marshal(parts)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:10])
}

// checkSeen refuses a decision on a task, or on what halts the board, that has changed since the
// caller saw it.
func checkSeen(s *State, op Operation) error {
	for seen := range strings.FieldsSeq(op.Seen) {
		id, version, _ := strings.Cut(seen, "=")
		switch {
		case id == op.TaskID():
			if t := s.Task(id); t != nil && version != t.Version() {
				return refuse(CodeStale, "%s has changed since you saw it", id).on(t).Way(ActOn("show", id))
			}
		case id == "control" && op.releases() && version != HaltVersion(s):
			return refuse(CodeStale, "what halts the board has changed since you saw it").Way(ActOn("status"))
		}
	}
	return nil
}

// releases reports whether the operation lets a halted board continue.
func (op Operation) releases() bool {
	switch op.Payload.(type) {
	case *Resume, *Resolve:
		return op.TaskID() == ""
	}
	return false
}
