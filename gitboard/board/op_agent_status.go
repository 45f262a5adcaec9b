package board

import (
	"cmp"
	"slices"

	"github.com/git-liza/git-liza/gitboard/text"
)

// AgentStatusChange is a supervisor's report about its agent's process.
type AgentStatusChange struct {
	Status         AgentStatus `json:"status"`
	ContextPercent int         `json:"context_percent,omitempty"`
	WaitingFor     string      `json:"waiting_for,omitempty"` // what keeps the process from working
}

// agentMoves are the changes of an agent's status that no other operation makes.
var agentMoves = map[AgentStatus][]AgentStatus{
	Starting:  {Idle},
	Working:   {Idle, HandedOff},
	Reviewing: {HandedOff},
	Waiting:   {Idle},
	Idle:      {HandedOff},
	HandedOff: {Starting},
}

// Op implements Payload.
func (p *AgentStatusChange) Op() string { return "agent-status" }

// Check implements Payload.
func (p *AgentStatusChange) Check(s *State, op Operation) error {
	if p.ContextPercent < 0 || p.ContextPercent > 100 {
		return invalid("context_percent is %d, not from 0 to 100", p.ContextPercent)
	}
	a := s.Agent(op.Actor.ID)
	if a.Status != p.Status && !slices.Contains(agentMoves[a.Status], p.Status) {
		return refuse(CodeWrongState, "%s is %s, and does not become %s by itself", op.Actor.ID, a.Status, quote(string(p.Status)))
	}
	if held := cmp.Or(s.heldBy(op.Actor.ID), s.reviewedBy(op.Actor.ID)); p.Status == Idle && held != "" {
		return refuse(CodeWrongState, "%s still works on %s", op.Actor.ID, held)
	}
	return nil
}

// Apply implements Payload.
func (p *AgentStatusChange) Apply(s *State, op Operation) {
	a := edit[Agent](s, RecordPath(AgentDir, op.Actor.ID))
	a.Status, a.ContextPercent, a.WaitingFor = p.Status, p.ContextPercent, p.WaitingFor
	if p.Status == Idle {
		a.CurrentTask = ""
	}
}

// Subject implements Payload.
func (p *AgentStatusChange) Subject(_, _ *State, op Operation) (string, string) {
	line := op.Actor.ID + " is " + string(p.Status)
	if p.WaitingFor != "" {
		line += ", waiting: " + text.Line(p.WaitingFor, 60)
	}
	return line, ""
}
