package supervisor

import (
	"encoding/json"
	"fmt"

	"github.com/git-liza/git-liza/gitboard/roles"
)

const conversationFile = "conversation.json"

// conversation is a CLI's own record of a coder's work on a task, which a later run can continue. It is kept in this
// clone, with the agent.
type conversation struct {
	CLI     string `json:"cli"`
	Task    string `json:"task"`
	Session string `json:"session"` // by which the CLI knows it
}

// conversation is the one that a run on a task continues; the zero value for a fresh start.
func (f files) conversation(cli, task string) conversation {
	text, err := f.kept(conversationFile)
	var c conversation
	if err != nil || text == "" || json.Unmarshal([]byte(text), &c) != nil || c.CLI != cli || c.Task != task {
		return conversation{} // a fresh start is always right
	}
	return c
}

// continues is the session that a run on a task continues, "" for a fresh start: for planners and reviewers, who judge
// anew each time; where the CLI can't; where a person asked for it.
func (s *supervisor) continues(step Step) string {
	if s.Role != roles.Coder || s.Fresh || s.Terminal != nil || s.CLI.Resume == nil || step.Task == "" {
		return ""
	}
	return s.files.conversation(s.CLI.Name, step.Task).Session
}

// converse keeps the conversation of a run, or drops it where the next run had better begin anew: when it has become
// too long, or is lost, and after a hand-off, whose point that is.
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
