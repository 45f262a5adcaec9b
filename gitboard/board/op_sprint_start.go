package board

import (
	"slices"
	"strconv"

	"github.com/git-liza/git-liza/gitboard/text"
)

// SprintStart begins a sprint after the end of the previous sprint.
type SprintStart struct {
	Aim      string   `json:"aim,omitempty"` // recorded in the goal's alignment history
	Deadline Time     `json:"deadline,omitempty"`
	Planned  []string `json:"planned,omitempty"`
	Stretch  []string `json:"stretch,omitempty"`
}

// Op implements Payload.
func (p *SprintStart) Op() string { return "sprint-start" }

// Check implements Payload.
func (p *SprintStart) Check(s *State, op Operation) error {
	if sp := s.Sprint(); !sp.Over() {
		return refuse(CodeWrongState, "%s is %s: one sprint runs at a time", sp.ID, sp.Status).Way(ActOn("sprint-end"))
	}
	if len(s.Running()) == 0 {
		_, err := s.FindGoal("")
		return err
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
	id := "sprint-" + strconv.Itoa(n+1)
	if p.Aim != "" {
		alignRunning(s, op, SprintStarted, id+": "+p.Aim)
	}
	put(s, SprintPath, &Sprint{
		ID: id, Status: InProgress,
		Scope:    SprintScope{Planned: p.Planned, Stretch: p.Stretch},
		Timeline: Timeline{Started: op.Time, Deadline: p.Deadline},
	})
}

// Subject implements Payload.
func (p *SprintStart) Subject(_, after *State, _ Operation) (string, string) {
	return after.Sprint().ID + ", " + text.Plural(len(p.Planned), "planned task"), p.Aim
}

// SprintStarted is the event in the alignment history that records a sprint's aim.
const SprintStarted = "sprint started"
