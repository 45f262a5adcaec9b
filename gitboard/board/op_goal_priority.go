package board

import "fmt"

// GoalPriority sets how urgent a goal is: tasks of a more urgent goal are claimed first.
type GoalPriority struct {
	Goal     string `json:"goal"`
	Priority int    `json:"priority"`
}

// Op implements Payload.
func (p *GoalPriority) Op() string { return "goal-priority" }

// Check implements Payload.
func (p *GoalPriority) Check(s *State, op Operation) error {
	if err := priority(p.Priority); err != nil {
		return err
	}
	g, err := s.goalInProgress(op, p.Goal)
	if err == nil && g.Priority == p.Priority {
		return refuse(CodeExists, "%s has the priority %d already", g.ID, g.Priority)
	}
	return err
}

// isPriority reports whether a number is the priority of a goal or a task.
func isPriority(n int) bool { return n >= 1 && n <= 5 }

// priority refuses a number that is not a priority.
func priority(n int) error {
	if !isPriority(n) {
		return invalid("priority is %d; it goes from 1 (first) to 5 (last)", n)
	}
	return nil
}

// Apply implements Payload.
func (p *GoalPriority) Apply(s *State, op Operation) {
	if g, err := s.goalMeant(op, p.Goal); err == nil {
		edit[Goal](s, GoalPath(g.ID)).Priority = p.Priority
	}
}

// Subject implements Payload.
func (p *GoalPriority) Subject(before, _ *State, op Operation) (string, string) {
	g, err := before.goalMeant(op, p.Goal)
	if err != nil {
		return "", ""
	}
	return fmt.Sprintf("%s: %d, before %d", g.ID, p.Priority, g.Priority), ""
}
