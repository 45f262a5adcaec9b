package board

import (
	"cmp"
	"strings"

	"github.com/git-liza/git-liza/gitboard/text"
)

// GoalReopen continues an ended goal.
type GoalReopen struct {
	Goal   string `json:"goal"`
	Reason string `json:"reason,omitempty"`
}

// Op implements Payload.
func (p *GoalReopen) Op() string { return "goal-reopen" }

// Check implements Payload.
func (p *GoalReopen) Check(s *State, _ Operation) error {
	if p.Goal == "" {
		return invalid("no goal is named to reopen").Way(ActOn("goal-list"))
	}
	g, err := s.FindGoal(p.Goal)
	if err != nil {
		return err
	}
	if g.Status == InProgress {
		return refuse(CodeWrongState, "%s is %s", g.ID, g.Status).Way(ActOn("goal-show", g.ID))
	}
	return nil
}

// Apply implements Payload. An aborted run continues with this goal.
func (p *GoalReopen) Apply(s *State, op Operation) {
	g := edit[Goal](s, GoalPath(p.Goal))
	was := g.Status
	g.Status, g.Ended, g.EndedBy, g.Reopened = InProgress, "", "", op.Time
	align(s, op, g.ID, "reopened", cmp.Or(p.Reason, "it was "+string(was)))
	takeUp(s, op)
}

// Subject implements Payload.
func (p *GoalReopen) Subject(_, _ *State, _ Operation) (string, string) {
	return strings.TrimSuffix(p.Goal+": "+text.Line(p.Reason, 90), ": "), p.Reason
}
