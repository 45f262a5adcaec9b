package board

import (
	"github.com/git-liza/git-liza/gitboard/roles"

	"github.com/git-liza/git-liza/gitboard/text"
)

// HumanOverride is the reason of a human's block without a given reason.
const HumanOverride = "human override"

// ReviewDeadlock is the reason of a block at the limit of review cycles.
const ReviewDeadlock = "review_deadlock"

// Block stops a task until a planner or a human has dealt with it.
type Block struct {
	About
	Reason    string   `json:"reason"`
	Questions []string `json:"questions,omitempty"`
	Attempted []string `json:"attempted,omitempty"`
}

// Op implements Payload.
func (p *Block) Op() string { return "block" }

// Check implements Payload.
func (p *Block) Check(s *State, op Operation) error {
	if err := required("reason", p.Reason); err != nil {
		return invalid("blocked_reason is missing: what exactly is in the way?")
	}
	if p.Reason == ReviewDeadlock || p.Reason == BudgetSpent {
		return invalid("%s is a reason of the system; use your own words", p.Reason)
	}
	if len(p.Questions) > 3 {
		return invalid("%d questions are too many: 3 at most", len(p.Questions))
	}
	for _, q := range p.Questions {
		if err := required("question", q); err != nil {
			return err
		}
	}
	if op.Actor.Role != roles.Coder {
		return nil
	}
	if err := holds(s.Task(p.Task), op); err != nil {
		return err
	}
	if len(p.Questions) == 0 {
		return invalid("a block needs 1 to 3 questions whose answers would unblock %s", p.Task)
	}
	return nil
}

// Apply implements Payload.
func (p *Block) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	if t.attempted(op.Actor.ID, len(t.History)) {
		addFailure(s, t, op.Actor.ID, op)
	}
	block(s, t, op.Actor.ID, p.Reason, p.Questions, op)
	t.Attempted = p.Attempted
}

// Subject implements Payload.
func (p *Block) Subject(_, _ *State, _ Operation) (string, string) {
	body := p.Reason
	for _, q := range p.Questions {
		body += "\n? " + q
	}
	return text.Line(p.Reason, 90), body
}
