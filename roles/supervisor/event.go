package supervisor

import (
	"github.com/git-liza/git-liza/gitboard/plain"
	"time"
)

// Event is something that a supervisor tells: to its log, to whoever watches.
type Event struct {
	Time   time.Time `json:"time"`
	Agent  string    `json:"agent"`
	Event  string    `json:"event"`
	Task   string    `json:"task,omitempty"`
	Text   string    `json:"text"`
	Exit   *int      `json:"exit,omitempty"`   // of the agent that has ended
	Prompt string    `json:"prompt,omitempty"` // the file, of an agent that was started
	Idle   bool      `json:"idle,omitempty"`   // waiting: for lack of work
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
	Planning      = "planning" // it plans a goal from now on
	DeadlineSet   = "deadline"
	Mended        = "mended"
	Trouble       = "trouble" // something failed that will be tried again
	Alarm         = "alarm"
	Released      = "released"
	Stopped       = "stopped"
)

// Line is the event in words.
func (e Event) Line() string {
	text := e.Event
	if e.Task != "" {
		text += " " + e.Task
	}
	return plain.Line(text+": "+e.Text, 500)
}
