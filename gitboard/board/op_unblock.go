package board

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// The ways to unblock.
const (
	UnblockFresh     = ""           // anyone begins afresh
	UnblockKeepWork  = "keep-work"  // the next coder continues in the same worktree
	UnblockSameCoder = "same-coder" // the same coder goes on, review cycles start again
)

// Unblock lets a BLOCKED task go on.
type Unblock struct {
	About
	Mode       string `json:"mode,omitempty"`
	To         string `json:"to,omitempty"` // with keep-work: the one coder who may go on
	Assessment string `json:"assessment,omitempty"`
	Kept       string `json:"kept,omitempty"`   // afresh: the commit that holds the old work
	Budget     int    `json:"budget,omitempty"` // the tokens that the task may use from now on, in all; a human's to give
}

// Op implements Payload.
func (p *Unblock) Op() string { return "unblock" }

// Check implements Payload.
func (p *Unblock) Check(s *State, op Operation) error {
	t := s.Task(p.Task)
	if len(t.FailedBy) >= 2 && reframing(t) == Unchanged {
		return refuse(CodeExhausted, "two coders failed at %s (%s): its framing is presumed wrong", p.Task, all(t.FailedBy)).on(t)
	}
	if t.BlockedReason == ReviewDeadlock && required("assessment", p.Assessment) != nil {
		return invalid("%s is in a review deadlock: say what you make of it", p.Task)
	}
	if err := p.checkBudget(s.Config(), t, op); err != nil {
		return err
	}
	switch p.Mode {
	case UnblockFresh:
	case UnblockKeepWork, UnblockSameCoder:
		if t.Worktree == "" || t.BaseCommit == "" {
			return refuse(CodeWrongState, "%s has no work to go on with", p.Task).on(t)
		}
	default:
		return invalid("%s is no way to unblock", quote(p.Mode))
	}
	if p.Mode == UnblockSameCoder {
		if s.Agent(t.AssignedTo) == nil {
			return refuse(CodeWrongState, "%s is not registered any more", t.AssignedTo).on(t)
		}
		if held := s.heldBy(t.AssignedTo); held != "" {
			return refuse(CodeWrongState, "%s works on %s now", t.AssignedTo, held).on(t)
		}
		if open := s.openDependencies(t); len(open) > 0 {
			return refuse(CodeDependency, "%s waits for %s", t.ID, all(open)).on(t)
		}
	}
	if p.To != "" {
		if p.Mode != UnblockKeepWork {
			return invalid("a coder is named with keep-work only")
		}
		return registeredCoder(s, p.To)
	}
	return nil
}

// checkBudget refuses to continue a task whose budget is used up, and to anybody but a human to raise it.
func (p *Unblock) checkBudget(c *Config, t *Task, op Operation) error {
	raised := *t
	if p.Budget != 0 {
		if op.Actor.Role != roles.Human {
			return refuse(CodePermission, "a budget is raised by a human").hint("git liza note --for human TEXT")
		}
		if p.Budget < 0 || p.Budget > mostUsage {
			return invalid("%d is not a budget", p.Budget)
		}
		raised.BudgetTokens = p.Budget
	}
	if b := TaskBudget(c, &raised); b != nil && b.Spent() {
		return refuse(CodeWrongState, "%s", b).on(t).hint("a human raises it: %s", b.Raise())
	}
	return nil
}

// registeredCoder refuses to reserve a task for somebody who can't claim it.
func registeredCoder(s *State, id string) error {
	if !isCoder(id) {
		return invalid("%s is not a coder's id", quote(id))
	}
	if s.Agent(id) != nil || s.Err() != nil {
		return nil
	}
	message := id + " is not registered, and neither is any other coder"
	if coders := slices.DeleteFunc(slices.Clone(s.List(AgentDir)), func(id string) bool { return !isCoder(id) }); len(coders) > 0 {
		message = id + " is not registered; coders are " + all(coders)
	}
	return &Refusal{Code: CodeUnknownAgent, Message: message, Unknown: id}
}

// reframing says how the definition changed, in what matters, since a coder failed last. That a human or a planner
// blocked the task since is nobody's failure.
func reframing(t *Task) Reframing {
	was := t.Definition()
	for i := len(t.History) - 1; i >= 0; i-- {
		e := t.History[i]
		if e.Event == EventBlocked && (isCoder(e.Agent) || e.Agent == string(roles.System)) {
			break
		}
		if e.Was == nil {
			continue
		}
		was.DoneWhen = cmp.Or(e.Was.DoneWhen, was.DoneWhen)
		was.Scope = cmp.Or(e.Was.Scope, was.Scope)
		was.SpecRef = cmp.Or(e.Was.SpecRef, was.SpecRef)
	}
	result := Unchanged
	for _, f := range [][2]string{{was.DoneWhen, t.DoneWhen}, {was.Scope, t.Scope}, {was.SpecRef, t.SpecRef}} {
		before, after := strings.Fields(wordsOf(f[0])), strings.Fields(wordsOf(f[1]))
		switch {
		case slices.Equal(before, after):
			continue
		case slices.Equal(slices.Sorted(slices.Values(before)), slices.Sorted(slices.Values(after))):
			result = max(result, Reordered)
		default:
			result = Reworded
		}
	}
	return result
}

// Reframed reports whether what a task asks for has changed in substance since a coder failed last.
func Reframed(t *Task) bool { return reframing(t) != Unchanged }

// Reframing says how far a task differs from what a coder failed at.
type Reframing int

// The ways a definition can differ from what it was.
const (
	Unchanged Reframing = iota // but for case, spaces and punctuation
	Reordered                  // the same words in another order
	Reworded
)

// wordsOf is a text without what doesn't change its meaning: case, spaces and punctuation.
func wordsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return ' '
	}, s)
}

// Apply implements Payload.
func (p *Unblock) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	if t.BlockedReason == ReviewDeadlock {
		logAnomaly(s, op.Actor.ID, t.ID, "review_deadlock", map[string]Scalar{"assessment": Scalar(p.Assessment)}, op)
	}
	if p.Budget != 0 {
		t.BudgetTokens = p.Budget
	}
	t.clearBlock()
	t.dropReview()
	e := t.event(op, EventUnblocked)
	e.Reason, e.Kept = p.Assessment, p.Kept
	switch p.Mode {
	case UnblockSameCoder:
		t.ReviewCyclesCurrent = 0
		t.become(Claimed, op)
		occupy(s, t.AssignedTo, t.ID, Working)
	case UnblockKeepWork:
		t.AssignedTo, t.ReservedFor, t.ReviewCyclesCurrent = "", p.To, 0
		t.become(Unclaimed, op)
	default:
		t.unclaim()
		t.ReservedFor, t.ReviewCyclesCurrent = "", 0
		t.become(Unclaimed, op)
	}
}

// Subject implements Payload.
func (p *Unblock) Subject(_, after *State, _ Operation) (string, string) {
	switch p.Mode {
	case UnblockSameCoder:
		return after.Task(p.Task).AssignedTo + " goes on", p.Assessment
	case UnblockKeepWork:
		if p.To != "" {
			return "work kept for " + p.To, p.Assessment
		}
		return "work kept for the next coder", p.Assessment
	}
	return "to be begun afresh", p.Assessment
}

func isCoder(id string) bool {
	r, err := roles.Of(id)
	return err == nil && r == roles.Coder
}
