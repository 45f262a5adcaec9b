package supervisor

import (
	"encoding/json"

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

// converses keeps the conversation of a run as soon as it has begun, since this process may be
// killed.
func (s *supervisor) converses(task, session string) {
	if s.Role != roles.Coder || task == "" || session == "" || s.CLI.Resume == nil {
		return
	}
	data, err := json.Marshal(conversation{CLI: s.CLI.Name, Task: task, Session: session})
	if err == nil {
		err = s.files.keep(conversationFile, string(data))
	}
	if err != nil {
		s.report(Trouble, task, "the agent's next run can't continue this conversation: "+err.Error())
	}
}

// forget drops a conversation that is too long or lost, and any after a hand-off, whose point is a
// fresh start.
func (s *supervisor) forget(o *Outcome, end ending) error {
	if end.resumed && !s.witness.seen().worked && end.exit != 0 && !o.Limited && o.Setup == "" && !end.ours {
		o.Lost = true
	}
	if o.Overflow || o.Lost || o.HandedOff {
		return s.files.drop(conversationFile)
	}
	return nil
}
