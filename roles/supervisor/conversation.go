package supervisor

import (
	"encoding/json"
	"fmt"

	"github.com/git-liza/git-liza/gitboard/roles"
)

const conversationFile = "conversation.json"

// conversation is a CLI's own record of a coder's work on a task, which a later run can continue.
// It is kept in this clone, among the agent's files.
type conversation struct {
	CLI     string `json:"cli"`
	Task    string `json:"task"`
	Session string `json:"session"` // the CLI's own id for it
}

// conversation returns the one that a run on a task continues, or the zero value for a fresh start.
func (f files) conversation(cli, task string) conversation {
	text, err := f.kept(conversationFile)
	var c conversation
	if err != nil || text == "" || json.Unmarshal([]byte(text), &c) != nil || c.CLI != cli || c.Task != task {
		return conversation{} // a fresh start is always safe
	}
	return c
}

// continues is the session that a run on a task continues, "" for a fresh start. Planners and
// reviewers, who judge afresh each time, always start fresh; so do CLIs that can't resume,
// interactive runs, and runs with Fresh set.
func (s *supervisor) continues(step Step) string {
	if s.Role != roles.Coder || s.Fresh || s.Terminal != nil || s.CLI.Resume == nil || step.Task == "" {
		return ""
	}
	return s.files.conversation(s.CLI.Name, step.Task).Session
}

// converse keeps the conversation of a run. It drops one that has become too long or is lost, and
// any after a hand-off, whose point is a fresh start.
func (s *supervisor) converse(task string, o *Outcome, end ending) error {
	w := s.witness.seen()
	if end.resumed && !w.worked && end.exit != 0 && !o.Limited && o.Setup == "" && !end.ours {
		o.Lost = true
	}
	if o.Overflow || o.Lost || o.HandedOff {
		return s.files.drop(conversationFile)
	}
	if s.Role != roles.Coder || task == "" || w.session == "" || s.CLI.Resume == nil {
		return nil
	}
	data, err := json.Marshal(conversation{CLI: s.CLI.Name, Task: task, Session: w.session})
	if err != nil {
		return err
	}
	if err := s.files.keep(conversationFile, string(data)); err != nil {
		return fmt.Errorf("the agent's next run can't continue this conversation: %w", err)
	}
	return nil
}
