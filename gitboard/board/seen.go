package board

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// Version is a short text that changes with what is decided on in a task: its definition, its state
// and why it is blocked. What is only recorded about it, such as notes, does not matter.
func (t *Task) Version() string {
	data, _ := json.Marshal([]any{t.Definition(), t.Status, t.StatusChangedAt, t.BlockedReason, t.BlockedQuestions}) // texts and numbers
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:10])
}

// checkSeen refuses a decision on a task that has changed since the caller saw it.
func checkSeen(s *State, op Operation) error {
	for seen := range strings.FieldsSeq(op.Seen) {
		id, version, _ := strings.Cut(seen, "=")
		if t := s.Task(id); t != nil && id == op.TaskID() && version != t.Version() {
			return refuse(CodeStale, "%s has changed since you saw it", id).on(t).hint("git liza show %s", id)
		}
	}
	return nil
}
