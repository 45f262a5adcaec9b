package board

import (
	"cmp"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// Decisions are a human's possible decisions at a checkpoint.
var Decisions = []string{"CONTINUE", "ADJUST", Replan, "PIVOT", "STOP"}

// Replan is the decision that wakes the planner of the named goal, or of every one being worked on.
const Replan = "REPLAN"

// Resume continues work after a pause or a checkpoint.
type Resume struct {
	About
	Goal     string `json:"goal,omitempty"` // that the decision is for; "" for all being worked on
	Decision string `json:"decision,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// Op implements Payload.
func (p *Resume) Op() string { return "resume" }

// Check implements Payload.
func (p *Resume) Check(s *State, _ Operation) error {
	if p.Decision != "" && !slices.Contains(Decisions, p.Decision) {
		return invalid("%s is not a decision: use %s", quote(p.Decision), list(Decisions))
	}
	if p.Goal != "" {
		if err := p.checkGoal(s); err != nil {
			return err
		}
	}
	if p.Task != "" {
		if !s.Task(p.Task).Paused {
			return refuse(CodeWrongState, "%s is not paused", p.Task)
		}
		return nil
	}
	if s.Control().Mode == Running {
		return refuse(CodeWrongState, "the board is RUNNING").Way(ActOn("status"))
	}
	if b := s.Breaker(); b.Status == BreakerTriggered {
		return refuse(CodeMode, "the circuit breaker is TRIGGERED (%s)", b.trigger().Pattern)
	}
	if b := spentBudget(s); b != nil {
		return refuse(CodeMode, "%s", b).Advise("%s", b.Raise())
	}
	return nil
}

// checkGoal refuses a goal that a decision can't be for.
func (p *Resume) checkGoal(s *State) error {
	g, err := s.FindGoal(p.Goal)
	switch {
	case err != nil:
		return err
	case p.Task != "" || p.Decision == "":
		return invalid("a goal is named for a decision about it").Way(ActOn("resume").With("goal", p.Goal, "decision", Replan))
	case g.Status != InProgress:
		return g.ended()
	}
	return nil
}

// decided lists the goals that the decision is for.
func (p *Resume) decided(s *State) []*Goal {
	if g := s.Goal(p.Goal); g != nil {
		return []*Goal{g}
	}
	return s.Running()
}

// Apply implements Payload.
func (p *Resume) Apply(s *State, op Operation) {
	if p.Task != "" {
		t := s.editTask(p.Task)
		t.Paused = false
		e := t.event(op, EventUnpaused)
		if e.Reason = p.Reason; p.Decision != "" {
			e.Reason = strings.TrimSuffix(p.Decision+": "+p.Reason, ": ")
		}
		return
	}
	if s.Sprint().Status == AtCheckpoint {
		editSingle[Sprint](s, SprintPath).Status = InProgress
	}
	if s.Control().Mode == CheckpointMode || p.Decision != "" {
		for _, g := range p.decided(s) {
			align(s, op, g.ID, "checkpoint released", cmp.Or(p.Decision, "CONTINUE")+because(p.Reason))
		}
	}
	if p.Decision == Replan {
		p.replan(s, op)
	}
	setMode(s, Running, op, op.Actor.ID, p.Reason)
}

// replan leaves a note for the planner of every goal that is to be planned again.
func (p *Resume) replan(s *State, op Operation) {
	for _, g := range p.decided(s) {
		note := &AddNote{For: string(roles.Planner), Goal: g.ID, Message: Replan + because(p.Reason)}
		note.Apply(s, op)
	}
}

// Subject implements Payload.
func (p *Resume) Subject(before, _ *State, _ Operation) (string, string) {
	if p.Task != "" {
		return "claims, review claims and merges may go on", p.Reason
	}
	line := "after " + string(before.Control().Mode)
	if p.Decision != "" {
		line += ", decision " + p.Decision
	}
	if p.Goal != "" {
		line += " for " + p.Goal
	}
	return line, p.Reason
}
