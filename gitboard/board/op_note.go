package board

import (
	"slices"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// AddNote leaves a note: from a human to a task, an agent, a role or everybody, or from a planner
// to the human.
type AddNote struct {
	For     string `json:"for,omitempty"`
	Goal    string `json:"goal,omitempty"` // "" for all goals being worked on
	Message string `json:"message"`
}

// Op implements Payload.
func (p *AddNote) Op() string { return "note" }

// Check implements Payload.
func (p *AddNote) Check(s *State, op Operation) error {
	if op.Actor.Role != roles.Human && p.For != roles.HumanID {
		return refuse(CodePermission, "a planner writes notes for the human only")
	}
	if _, err := s.RoleOf(p.For); err != nil && p.For != "" && p.For != roles.HumanID && p.For != string(roles.Planner) {
		if s.Task(p.For) == nil {
			return s.unknownReader(p.For)
		}
	}
	if err := s.knownGoal(p.Goal); err != nil {
		return err
	}
	return required("message", p.Message)
}

// unknownReader refuses a note for nobody on the board. It suggests the nearest ids.
func (s *State) unknownReader(id string) *Refusal {
	readers := slices.Concat(s.List(TaskDir), s.List(AgentDir), []string{string(roles.Planner), roles.HumanID})
	r := refuse(CodeUnknownRecord, "a note is for a task, an agent, planner or human, and no task is called %s", quote(id)).
		meant(id, readers, Do("status"))
	r.Unknown = id
	return r
}

// Apply implements Payload.
func (p *AddNote) Apply(s *State, op Operation) {
	id := s.nextID(NoteDir, "note")
	put(s, RecordPath(NoteDir, id), &Note{ID: id, Timestamp: op.Time, By: op.Actor.ID, Message: p.Message, For: p.For, Goal: s.goalOf(op, p.Goal, "")})
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
