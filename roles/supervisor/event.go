package supervisor

import (
	"github.com/git-liza/git-liza/gitboard/text"
	"time"
)

// Event is something that a supervisor reports to its log and to Config.Report.
type Event struct {
	Time   time.Time `json:"time"`
	Agent  string    `json:"agent"`
	Event  string    `json:"event"`
	Task   string    `json:"task,omitempty"`
	Text   string    `json:"text"`
	Exit   *int      `json:"exit,omitempty"`   // of an ended agent
	Prompt string    `json:"prompt,omitempty"` // the prompt's file, of an agent that was started
	Idle   bool      `json:"idle,omitempty"`   // Waiting for lack of work
}

// The events.
const (
	Registered    = "registered"
	Waiting       = "waiting"
	Claimed       = "claimed"
	ClaimFailed   = "claim_failed"
	Started       = "started"
	Ended         = "ended"
	Ending        = "ending"
	Limited       = "limited"
	Merged        = "merged"
	MergeFailed   = "merge_failed"
	GoalCompleted = "goal_completed"
	Planning      = "planning" // it starts to plan a goal
	DeadlineSet   = "deadline"
	Repaired      = "repaired"
	Trouble       = "trouble" // something failed and will be retried
	Alarm         = "alarm"
	Stopped       = "stopped"
)

// Line is the event as a line of text.
func (e Event) Line() string {
	line := e.Event
	if e.Task != "" {
		line += " " + e.Task
	}
	return text.Line(line+": "+e.Text, 500)
}
