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
	UnblockKeepWork  = ""           // the next coder continues in the same worktree, if any
	UnblockFresh     = "afresh"     // the next coder starts over
	UnblockSameCoder = "same-coder" // the same coder continues, review cycles restart
)

// Unblock lets a BLOCKED task continue. Budget is the total of tokens that the task may use from
// now on; only a human may set it.
type Unblock struct {
	About
	Mode       string `json:"mode,omitempty"`
	To         string `json:"to,omitempty"` // for kept work: the only coder who may continue
	Assessment string `json:"assessment,omitempty"`
	Kept       string `json:"kept,omitempty"` // afresh: the commit that holds the old work
	Budget     int    `json:"budget,omitempty"`
}

// Op implements Payload.
func (p *Unblock) Op() string { return "unblock" }

// Check implements Payload.
func (p *Unblock) Check(s *State, op Operation) error {
	t := s.Task(p.Task)
	if len(t.FailedBy) >= 2 && reframing(s, t) == Unchanged {
		return refuse(CodeExhausted, "two coders failed at %s (%s): its framing is presumed wrong", p.Task, all(t.FailedBy)).on(t)
	}
	if t.BlockedReason == ReviewDeadlock && required("assessment", p.Assessment) != nil {
		return invalid("%s is in a review deadlock: give your assessment", p.Task)
	}
	if err := p.checkBudget(s.Config(), t, op); err != nil {
		return err
	}
	switch {
	case p.Kept != "" && p.Mode != UnblockFresh:
		return invalid("%s keeps its work: no commit holds it aside", p.Task)
	case p.To != "" && p.Mode != UnblockKeepWork:
		return invalid("a coder is named for work that is kept, not with --%s", p.Mode)
	case p.To != "":
		if err := registeredCoder(s, p.To, t); err != nil || t.hasWork() {
			return err
		}
		return refuse(CodeWrongState, "%s has no work that could be kept for %s", t.ID, p.To).on(t)
	case p.Mode == UnblockSameCoder:
		return sameCoder(s, t)
	case p.Mode != UnblockKeepWork && p.Mode != UnblockFresh:
		return invalid("%s is not a way to unblock", quote(p.Mode))
	}
	return nil
}

// checkBudget refuses to continue a task whose budget is used up. Only a human may raise it.
func (p *Unblock) checkBudget(c *Config, t *Task, op Operation) error {
	raised := *t
	if p.Budget != 0 {
		if op.Actor.Role != roles.Human {
			return refuse(CodePermission, "a budget is raised by a human").Way(Do("note").With("for", roles.HumanID, "message", exampleText))
		}
		if p.Budget < 0 || p.Budget > MaxUsage {
			return invalid("%d is not a budget", p.Budget)
		}
		raised.BudgetTokens = p.Budget
	}
	if b := TaskBudget(c, &raised); b != nil && b.Spent() {
		return refuse(CodeWrongState, "%s", b).on(t).Advise("a human raises it: %s", b.Raise())
	}
	return nil
}

// sameCoder refuses to give a task back to a coder who can't continue with it.
func sameCoder(s *State, t *Task) error {
	if !t.hasWork() {
		return refuse(CodeWrongState, "%s has no work to continue with", t.ID).on(t)
	}
	if s.Agent(t.AssignedTo) == nil {
		return refuse(CodeWrongState, "%s is not registered any more", t.AssignedTo).on(t)
	}
	if held := s.heldBy(t.AssignedTo); held != "" {
		return refuse(CodeWrongState, "%s works on %s now", t.AssignedTo, held).on(t)
	}
	if open := s.openDependencies(t); len(open) > 0 {
		return refuse(CodeDependency, "%s waits for %s", t.ID, all(open)).on(t)
	}
	return nil
}

// hasWork reports whether a task has a worktree with its branch.
func (t *Task) hasWork() bool { return t.Worktree != "" && t.BaseCommit != "" }

// registeredCoder refuses to reserve a task for an agent that can't claim it.
func registeredCoder(s *State, id string, t *Task) error {
	if _, err := s.RoleOf(id); err != nil {
		return err
	}
	if !s.isCoder(id) {
		return invalid("%s is not a coder's id", quote(id))
	}
	if s.Agent(id) != nil {
		return s.doesStage(t, id)
	}
	message := id + " is not registered, and neither is any other coder"
	if coders := slices.DeleteFunc(slices.Clone(s.List(AgentDir)), func(id string) bool { return !s.isCoder(id) }); len(coders) > 0 {
		message = id + " is not registered; coders are " + all(coders)
	}
	return &Refusal{Code: CodeUnknownAgent, Message: message, Unknown: id}
}

// reframing reports how the definition has changed in substance since a coder last failed. A later
// block by a human or a planner is not a failure.
func reframing(s *State, t *Task) Reframing {
	was := t.Definition()
	for i := len(t.History) - 1; i >= 0; i-- {
		e := t.History[i]
		if e.Event == EventBlocked && (s.isCoder(e.Agent) || e.Agent == string(roles.System)) {
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

// Reframed reports whether what a task asks for has changed in substance since a coder last failed.
func Reframed(s *State, t *Task) bool { return reframing(s, t) != Unchanged }

// Reframing describes how a task differs from the version at which a coder failed.
type Reframing int

// The ways a definition can differ from its previous one.
const (
	Unchanged Reframing = iota // except for case, spaces and punctuation
	Reordered                  // the same words in another order
	Reworded
)

// wordsOf returns a text without what doesn't change its meaning: case, spaces and punctuation.
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
	p.unblock(s, op).Reason = p.Assessment
}

// unblock lets the task continue, with its work if the mode keeps it. The event records the
// questions.
func (p *Unblock) unblock(s *State, op Operation) *Event {
	t := s.editTask(p.Task)
	if t.BlockedReason == ReviewDeadlock {
		logAnomaly(s, op, Anomaly{
			Reporter: op.Actor.ID, Task: t.ID, Type: ReviewDeadlock, Details: map[string]Scalar{"assessment": Scalar(p.Assessment)},
		})
	}
	if p.Budget != 0 {
		t.BudgetTokens = p.Budget
	}
	e := t.event(op, EventUnblocked)
	e.Questions, e.Attempted, e.Kept = t.BlockedQuestions, t.Attempted, p.Kept
	t.clearBlock()
	t.dropReview()
	t.ReviewCyclesCurrent = 0
	if p.Mode == UnblockSameCoder {
		t.become(Claimed, op)
		occupy(s, t.AssignedTo, t.ID, Working)
		return e
	}
	if p.Mode == UnblockFresh || !t.hasWork() {
		t.unclaim()
	}
	t.AssignedTo, t.ReservedFor = "", p.To
	t.become(Unclaimed, op)
	return e
}

// Subject implements Payload.
func (p *Unblock) Subject(_, after *State, _ Operation) (string, string) {
	switch p.Mode {
	case UnblockSameCoder:
		return after.Task(p.Task).AssignedTo + " continues", p.Assessment
	case UnblockFresh:
		return "to be begun afresh", p.Assessment
	}
	switch {
	case p.To != "":
		return "work kept for " + p.To, p.Assessment
	case after.Task(p.Task).hasWork():
		return "work kept for the next coder", p.Assessment
	}
	return "to be begun", p.Assessment
}

// isCoder reports whether an id is a coder's in the team.
func (s *State) isCoder(id string) bool {
	r, err := s.RoleOf(id)
	return err == nil && r == roles.Coder
}
