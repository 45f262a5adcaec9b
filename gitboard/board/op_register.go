package board

import (
	"fmt"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// Register registers an agent in a new session. It succeeds if the id is free or its lease has
// expired.
type Register struct {
	Session  string `json:"session"`
	Clone    string `json:"clone,omitempty"`
	Terminal string `json:"terminal,omitempty"`
	Host     string `json:"host,omitempty"`
	PID      int    `json:"pid,omitempty"`
	CLI      string `json:"cli,omitempty"`   // the agent's program; attested
	Model    string `json:"model,omitempty"` // likewise
	Evidence
}

// Op implements Payload.
func (p *Register) Op() string { return "register" }

// Check implements Payload.
func (p *Register) Check(s *State, op Operation) error {
	if p.Session == "" || p.Session != op.Actor.Session {
		return invalid("a registration must name its own session")
	}
	a := s.Agent(op.Actor.ID)
	if a == nil {
		return nil
	}
	if a.Session == p.Session {
		return refuse(CodeExists, "%s is registered in this session already", op.Actor.ID)
	}
	if err := lapsed(s, op.Actor.ID, p.Lease, 0, op); err != nil {
		r := err.(*Refusal)
		r.Message = fmt.Sprintf("%s is registered and alive (session since %s); its lease runs until %s", op.Actor.ID, a.RegisteredAt, p.Lease.Expires)
		return r.Way(ActOn("register", FreeID(s, roles.NameOf(op.Actor.ID))))
	}
	return nil
}

// FreeID is the agent id of a team's role with the lowest number that is not registered.
func FreeID(s *State, role string) string {
	n := 1
	// Rules see an unreadable record as an empty one, hence the check of Err.
	for s.Agent(roles.IDOf(role, n)) != nil && s.Err() == nil {
		n++
	}
	return roles.IDOf(role, n)
}

// Apply implements Payload. The agent keeps a task or a review that it holds.
func (p *Register) Apply(s *State, op Operation) {
	a := &Agent{
		Role: op.Actor.Role, Status: Starting, Session: p.Session, Clone: p.Clone,
		Terminal: p.Terminal, Host: p.Host, PID: p.PID, CLI: p.CLI, Model: p.Model, RegisteredAt: op.Time,
	}
	if a.ByHand() { // no supervisor starts its process
		a.Status = Idle
	}
	if old := s.Agent(op.Actor.ID); old != nil {
		a.IterationsTotal, a.Goal = old.IterationsTotal, old.Goal
	}
	if held := s.heldBy(op.Actor.ID); held != "" {
		a.CurrentTask, a.Status = held, Working
	} else if held := s.reviewedBy(op.Actor.ID); held != "" {
		a.CurrentTask, a.Status = held, Reviewing
	}
	if op.Actor.Role == roles.Planner && !s.Runs(a.Goal) {
		a.Goal = s.unplanned()
	}
	put(s, RecordPath(AgentDir, op.Actor.ID), a)
}

// unplanned returns the only goal being worked on if it has no planner; else "".
func (s *State) unplanned() string {
	if running := s.Running(); len(running) == 1 && s.PlannerOf(running[0].ID) == "" {
		return running[0].ID
	}
	return ""
}

// Subject implements Payload.
func (p *Register) Subject(before, _ *State, op Operation) (string, string) {
	if before.Agent(op.Actor.ID) != nil {
		return op.Actor.ID + " again, in a new session", ""
	}
	return op.Actor.ID, ""
}
