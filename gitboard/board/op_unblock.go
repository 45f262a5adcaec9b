package board

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
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
	Allow      int    `json:"allow,omitempty"` // further iterations and review cycles; for a human
}

// Op implements Payload.
func (p *Unblock) Op() string { return "unblock" }

// Check implements Payload.
func (p *Unblock) Check(s *State, op Operation) error {
	t := s.Task(p.Task)
	if len(t.FailedBy) >= 2 && !Reframed(s, t) {
		return refuse(CodeExhausted, "%d attempts at %s failed (%s): its framing is presumed wrong", len(t.FailedBy), p.Task, all(t.FailedBy)).on(t)
	}
	if t.BlockedReason == ReviewDeadlock && required("assessment", p.Assessment) != nil {
		return invalid("%s is in a review deadlock: give your assessment", p.Task)
	}
	if err := p.checkBudget(s.Config(), t, op); err != nil {
		return err
	}
	if err := p.checkAllowance(s, t, op); err != nil {
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
			return refuse(CodePermission, "a budget is raised by a human").Way(ActOn("note").With("for", roles.HumanID, "message", exampleText))
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

// allowance is what the unblock adds to the limits of a task that has reached them: half of each,
// or as many as a human names.
func (p *Unblock) allowance(c *Config, t *Task) (iterations, cycles int) {
	if p.Allow > 0 {
		return p.Allow, p.Allow
	}
	if p.Mode != UnblockSameCoder && t.Iteration >= c.IterationsFor(t) {
		iterations = (c.IterationsFor(t) - t.ExtraIterations + 1) / 2
	}
	if t.ReviewCyclesTotal >= c.ReviewCyclesFor(t) {
		cycles = (c.ReviewCyclesFor(t) - t.ExtraReviewCycles + 1) / 2
	}
	return iterations, cycles
}

// checkAllowance lets a planner add to each limit of a task once.
func (p *Unblock) checkAllowance(s *State, t *Task, op Operation) error {
	if p.Allow < 0 || p.Allow > 1000 {
		return invalid("%d is not an allowance", p.Allow)
	}
	if op.Actor.Role == roles.Human {
		return nil
	}
	if p.Allow != 0 {
		return refuse(CodePermission, "an allowance of a given size is granted by a human").Way(ActOn("note").With("for", roles.HumanID, "message", exampleText))
	}
	iterations, cycles := p.allowance(s.Config(), t)
	for _, e := range t.History {
		if role, err := s.RoleOf(e.Agent); err != nil || role != roles.Planner {
			continue
		}
		if again := iterations > 0 && e.AllowedIterations > 0; again || cycles > 0 && e.AllowedReviewCycles > 0 {
			used := text.Plural(t.ReviewCyclesTotal, "rejection")
			if again {
				used = text.Plural(t.Iteration, "iteration")
			}
			return refuse(CodeLimit, "%s has had %s, and a planner's one allowance is used up", t.ID, used).on(t).
				Advise("a human grants more (%s), or rescope: %s", ActOn("unblock", t.ID).With("allow", "5"), ActOn("supersede", t.ID).With("by", "IDS", "reason", exampleText))
		}
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

// Reframed reports whether what a task asks for has changed in substance since a coder last failed, and
// not only in the order of its words. A later block by a human or a planner is not a failure.
func Reframed(s *State, t *Task) bool {
	was := t.Definition()
	for i := len(t.History) - 1; i >= 0; i-- {
		e := t.History[i]
		if e.Event == EventBlocked && (t.attempted(e.Agent, i) || e.Agent == string(roles.System) && e.Reason != BudgetSpent) {
			break
		}
		if e.Was == nil {
			continue
		}
		was.DoneWhen = cmp.Or(e.Was.DoneWhen, was.DoneWhen)
		was.Scope = cmp.Or(e.Was.Scope, was.Scope)
		was.SpecRef = cmp.Or(e.Was.SpecRef, was.SpecRef)
	}
	for _, f := range [][2]string{{was.DoneWhen, t.DoneWhen}, {was.Scope, t.Scope}, {was.SpecRef, t.SpecRef}} {
		if !slices.Equal(wordsOf(f[0]), wordsOf(f[1])) {
			return true
		}
	}
	return false
}

// wordsOf returns the sorted words of a text, without case and punctuation.
func wordsOf(s string) []string {
	return slices.Sorted(strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
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
	iterations, cycles := p.allowance(s.Config(), t)
	t.ExtraIterations += iterations
	t.ExtraReviewCycles += cycles
	e := t.event(op, EventUnblocked)
	e.AllowedIterations, e.AllowedReviewCycles = iterations, cycles
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
	t := after.Task(p.Task)
	line := "to be begun"
	switch {
	case p.Mode == UnblockSameCoder:
		line = t.AssignedTo + " continues"
	case p.Mode == UnblockFresh:
		line = "to be begun afresh"
	case p.To != "":
		line = "work kept for " + p.To
	case t.hasWork():
		line = "work kept for the next coder"
	}
	return line + t.allowed(), p.Assessment
}

// allowed describes the allowance of the last unblock, "" for none.
func (t *Task) allowed() string {
	var parts []string
	e := t.Last(EventUnblocked)
	if e.AllowedIterations > 0 {
		parts = append(parts, text.Plural(e.AllowedIterations, "iteration"))
	}
	if e.AllowedReviewCycles > 0 {
		parts = append(parts, text.Plural(e.AllowedReviewCycles, "review cycle"))
	}
	if len(parts) == 0 {
		return ""
	}
	return ", " + all(parts) + " more allowed"
}

// isCoder reports whether an id is a coder's in the team.
func (s *State) isCoder(id string) bool {
	r, err := s.RoleOf(id)
	return err == nil && r == roles.Coder
}
