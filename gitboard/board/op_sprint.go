package board

import (
	"slices"
	"strconv"
	"strings"
)

// SprintStart begins a sprint after one has ended.
type SprintStart struct {
	Deadline Time     `json:"deadline,omitempty"`
	Planned  []string `json:"planned,omitempty"`
	Stretch  []string `json:"stretch,omitempty"`
}

// Op implements Payload.
func (p *SprintStart) Op() string { return "sprint-start" }

// Check implements Payload.
func (p *SprintStart) Check(s *State, op Operation) error {
	if sp := s.Sprint(); sp.Status != Completed && sp.Status != PhaseAborted {
		return refuse("wrong-state", "%s is %s: one sprint runs at a time", sp.ID, sp.Status).hint("git liza sprint end")
	}
	if p.Deadline != "" {
		if _, err := ParseTime(string(p.Deadline)); err != nil {
			return invalid("the deadline: %v", err)
		}
		if p.Deadline <= op.Time {
			return invalid("the deadline %s has passed", p.Deadline)
		}
	}
	tasks := slices.Concat(p.Planned, p.Stretch)
	for i, id := range tasks {
		if s.Task(id) == nil {
			return s.unknownTask(id)
		}
		if slices.Contains(tasks[:i], id) {
			return invalid("%s is named twice", id)
		}
	}
	return nil
}

// Apply implements Payload.
func (p *SprintStart) Apply(s *State, op Operation) {
	_, n := split(s.Sprint().ID)
	put(s, SprintPath, &Sprint{
		ID: "sprint-" + strconv.Itoa(n+1), GoalRef: s.Goal().ID, Status: InProgress,
		Scope:    SprintScope{Planned: p.Planned, Stretch: p.Stretch},
		Timeline: Timeline{Started: op.Time, Deadline: p.Deadline},
	})
}

// Subject implements Payload.
func (p *SprintStart) Subject(_, after *State, _ Operation) (string, string) {
	return after.Sprint().ID + ", " + plural(len(p.Planned), "planned task"), ""
}

// SprintEnd ends the sprint by a human's word.
type SprintEnd struct {
	Reason string `json:"reason,omitempty"`
}

// Op implements Payload.
func (p *SprintEnd) Op() string { return "sprint-end" }

// Check implements Payload.
func (p *SprintEnd) Check(s *State, _ Operation) error {
	sp := s.Sprint()
	if sp.Status == Completed || sp.Status == PhaseAborted {
		return refuse("wrong-state", "%s is %s already", sp.ID, sp.Status)
	}
	if sp.Status == AtCheckpoint && sp.planDone(s) {
		return refuse("wrong-state", "%s is at CHECKPOINT and all that it planned is over", sp.ID).hint("git liza resume completes it")
	}
	return nil
}

// Apply implements Payload.
func (p *SprintEnd) Apply(s *State, op Operation) {
	sp := edit[Sprint](s, SprintPath)
	sp.Status, sp.Timeline.Ended = PhaseAborted, op.Time
	if sp.planDone(s) {
		sp.Status = Completed
	}
}

// Subject implements Payload.
func (p *SprintEnd) Subject(_, after *State, _ Operation) (string, string) {
	return after.Sprint().ID + " " + string(after.Sprint().Status), p.Reason
}

// planDone reports whether a sprint has planned tasks and all of them are over.
func (sp *Sprint) planDone(s *State) bool {
	for _, id := range sp.Scope.Planned {
		if t := s.Task(id); t == nil || !t.Status.Terminal() {
			return false
		}
	}
	return len(sp.Scope.Planned) > 0
}

// Retrospective stores what a human has learnt from the sprint.
type Retrospective struct {
	Text string `json:"text"`
}

// Op implements Payload.
func (p *Retrospective) Op() string { return "retrospective" }

// Check implements Payload.
func (p *Retrospective) Check(*State, Operation) error { return required("text", p.Text) }

// Apply implements Payload.
func (p *Retrospective) Apply(s *State, _ Operation) {
	edit[Sprint](s, SprintPath).Retrospective = p.Text
}

// Subject implements Payload.
func (p *Retrospective) Subject(before, _ *State, _ Operation) (string, string) {
	first, _, _ := strings.Cut(strings.TrimSpace(p.Text), "\n")
	return before.Sprint().ID + ": " + clip(first, 80), ""
}
