package board

import (
	"slices"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// AddNote leaves a note: from a human to a task, an agent, a role or everybody, from a planner to the
// human, a task or an agent, or from a coder to its own task, for the reviewer.
type AddNote struct {
	For     string `json:"for,omitempty"`
	Goal    string `json:"goal,omitempty"` // "" for all goals being worked on
	Message string `json:"message"`
	Run     Ask    `json:"run,omitempty"` // what its reader's supervisor does with the run
}

// Ask is a human's request to the supervisor of an agent.
type Ask string

// The things to ask for. The work on the agent's task is kept.
const (
	AskEnd     Ask = "end"     // of the run and of the supervisor
	AskRestart Ask = "restart" // of the run
	AskFresh   Ask = "fresh"   // the same, without the earlier conversation
)

// Op implements Payload.
func (p *AddNote) Op() string { return "note" }

// Check implements Payload.
func (p *AddNote) Check(s *State, op Operation) error {
	t := s.Task(p.For)
	switch role := op.Actor.Role; {
	case role == roles.Planner && (p.For == "" || p.For == string(roles.Planner)):
		return refuse(CodePermission, "a planner's note is for the human, a task or an agent")
	case role == roles.Coder && (t == nil || t.AssignedTo != op.Actor.ID):
		return refuse(CodePermission, "a coder's note is for its own task, where the reviewer sees it")
	}
	if _, err := s.RoleOf(p.For); err != nil && p.For != "" && p.For != roles.HumanID && p.For != string(roles.Planner) {
		if t == nil {
			return s.unknownReader(p.For)
		}
	}
	if err := s.knownGoal(p.Goal); err != nil {
		return err
	}
	if p.Run != "" {
		a := s.Agent(p.For)
		switch {
		case !slices.Contains([]Ask{AskEnd, AskRestart, AskFresh}, p.Run):
			return invalid("a run can be asked to end, restart or fresh, not to %s", quote(string(p.Run)))
		case op.Actor.Role != roles.Human:
			return refuse(CodePermission, "only a human ends or restarts the run of %s", quote(p.For))
		case a == nil || a.ByHand():
			return refuse(CodeWrongState, "no supervisor runs %s", quote(p.For)).Way(ActOn("status"))
		}
	}
	return required("message", p.Message)
}

// unknownReader refuses a note for nobody on the board. It suggests the nearest ids.
func (s *State) unknownReader(id string) *Refusal {
	readers := slices.Concat(s.List(TaskDir), s.List(AgentDir), []string{string(roles.Planner), roles.HumanID})
	r := refuse(CodeUnknownRecord, "a note is for a task, an agent, planner or human, and no task is called %s", quote(id)).
		meant(id, readers, ActOn("status"))
	r.Unknown = id
	return r
}

// Apply implements Payload.
func (p *AddNote) Apply(s *State, op Operation) {
	id := s.nextID(NoteDir, "note")
	n := &Note{ID: id, Timestamp: op.Time, By: op.Actor.ID, Message: p.Message, For: p.For, Goal: s.goalOf(op, p.Goal, ""), Run: p.Run}
	if p.Run != "" { // the supervisor follows it
		n.AcknowledgedBy, n.AcknowledgedAt = op.Actor.ID, op.Time
	}
	put(s, RecordPath(NoteDir, id), n)
}

// Subject implements Payload.
func (p *AddNote) Subject(before, _ *State, _ Operation) (string, string) {
	to := before.nextID(NoteDir, "note") + " for "
	if p.For != "" {
		to += p.For
	} else {
		to += "everybody"
	}
	return to + ": " + text.Line(p.Message, 80), p.Message
}
