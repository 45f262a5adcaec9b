package supervisor

import (
	"fmt"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// Action is the kind of a step.
type Action string

// The actions.
const (
	Wait         Action = "wait"
	Stop         Action = "stop"
	Claim        Action = "claim"
	ClaimReview  Action = "claim-review"
	Start        Action = "start" // the agent, on its task or wake-up
	Plan         Action = "plan"  // take on a goal to plan
	CompleteGoal Action = "goal-complete"
	Deadline     Action = "deadline"
	GiveUp       Action = "give-up" // the task it holds: too many runs handed nothing over
	LetGo        Action = "let-go"  // release the task it holds: its goal ended
)

// Step is a supervisor's next action.
type Step struct {
	Do   Action
	Task string
	Wake *report.Wake // of the start of a planner, or of a reviewer of plans
	Goal string       // to plan or to complete

	Until  time.Time // of a wait: look again then at the latest; zero for on a change
	Idle   bool      // it waits for lack of work
	Reason string    // why it waits or stops, as text
	Exit   int       // of a stop: the protocol's exit code
	Early  bool      // it follows from operations that may still be dropped
	Asked  bool      // a human asks for the stop
}

// Next decides what to do next. It has no side effects.
func Next(l Look, m *Memory) Step { return l.landFirst(l.next(m), m) }

func (l Look) next(m *Memory) Step {
	switch {
	case l.mode() == board.Aborted:
		return stop(0, "the run is aborted: "+l.stopped())
	case len(l.State.Running()) == 0:
		return stop(0, over(l.State))
	case l.Asked != nil:
		return Step{Do: Stop, Exit: 1, Asked: true, Reason: fmt.Sprintf("a human ended the run of %s (%s)", l.Agent, l.Asked.ID)}
	}
	if reason := m.Broken(l.Now); reason != "" {
		if m.Setup != "" {
			return stop(5, reason)
		}
		return stop(1, reason)
	}
	if l.mode() != board.Running {
		return l.once(Step{Do: Wait, Reason: l.stopped()}, m)
	}
	if l.paused(m) {
		return l.once(Step{Do: Wait, Until: m.NotBefore, Reason: m.Why}, m)
	}
	return l.once(l.bounded(l.work(m), m), m)
}

// work is the next step for an agent that may work.
func (l Look) work(m *Memory) Step {
	if l.Role == roles.Planner {
		return l.plan(m)
	}
	if own := l.held(); own != "" {
		return l.goOn(own, m)
	}
	if t := l.State.Task(l.Only); t != nil && t.Status.Terminal() {
		return stop(0, fmt.Sprintf("%s is %s", t.ID, t.Status))
	}
	if l.Role == roles.CodeReviewer {
		return l.review(m)
	}
	return l.code(m)
}

// over describes the outcome of the goals after the last one ended.
func over(s *board.State) string {
	goals := s.Goals()
	if len(goals) == 1 {
		return fmt.Sprintf("the goal is %s", goals[0].Status)
	}
	return "no goal is worked on: " + board.GoalStates(goals)
}

func stop(exit int, reason string) Step { return Step{Do: Stop, Exit: exit, Reason: reason} }

// once stops a supervisor that was asked for a single run, after that run.
func (l Look) once(s Step, m *Memory) Step {
	switch {
	case !l.Once || s.Do == Stop || s.Do == CompleteGoal:
		return s
	case m.Runs > 0 && m.LastCrashed:
		return stop(1, "its one run has failed")
	case m.Runs > 0:
		return stop(0, "its one run is done")
	case s.Do == Wait && !l.paused(m):
		return stop(0, s.Reason)
	}
	return s
}

// bounded stops a supervisor that has waited too long for work, and a spare one after a shorter
// time. Time before there is a plan does not count for the former.
func (l Look) bounded(s Step, m *Memory) Step {
	if !s.Idle || !l.Spare && (l.Patient || !l.planned()) {
		return s
	}
	since := m.IdleSince
	if since.IsZero() {
		since = l.Now
	}
	_, longest := l.State.Config().Waits(l.Role)
	if l.Spare {
		longest = l.IdleBy
	} else if r, err := l.State.Team().RoleOf(l.Agent); err == nil && r.Idle > 0 {
		longest = time.Duration(r.Idle) * time.Second
	}
	end := since.Add(longest)
	if !l.Now.Before(end) {
		return stop(0, fmt.Sprintf("%s for %s", s.Reason, longest))
	}
	s.Until = sooner(s.Until, end)
	return s
}

// planned reports whether there is a plan to work on, that is, a task beyond DRAFT.
func (l Look) planned() bool {
	for _, b := range l.State.Tasks() {
		if b.Status != board.Draft && l.State.Runs(b.Goal) {
			return true
		}
	}
	return l.Role == roles.Planner
}

// code is the next step of a coder without a task: it claims the next one.
func (l Look) code(m *Memory) Step {
	p := &patience{l: l}
	if step, ok := l.share(Claim, board.NextClaim, l.skip(m), p); ok {
		return step
	}
	reason := l.nothing("claim")
	if !l.planned() {
		reason = "there is no plan yet"
	}
	return Step{Do: Wait, Until: p.next, Idle: true, Reason: reason}
}

// held is the id of the task that the agent works on or reviews.
func (l Look) held() string {
	for _, b := range l.State.Tasks() {
		if b.Holds(l.Agent) || b.Status == board.ReadyForReview && b.ReviewingBy == l.Agent {
			return b.ID
		}
	}
	return ""
}

// goOn starts the agent on the task that it already holds.
func (l Look) goOn(id string, m *Memory) Step {
	switch t := l.State.Task(id); {
	case !l.State.Runs(t.Goal):
		return Step{Do: LetGo, Task: id}
	case t.Paused:
		return Step{Do: Wait, Reason: id + " is paused by a human"}
	case t.Status == board.Claimed && t.Clone != "" && t.Clone != l.Clone:
		return stop(1, fmt.Sprintf("%s works on %s in another clone", l.Agent, id))
	}
	if m.exhausted(id) {
		return Step{Do: GiveUp, Task: id}
	}
	return Step{Do: Start, Task: id}
}

// review is the next step of a reviewer without a review: the next submission, or else a plan.
func (l Look) review(m *Memory) Step {
	p := &patience{l: l}
	if step, ok := l.share(ClaimReview, board.NextReview, l.skip(m), p); ok {
		return step
	}
	if wake := l.planToReview(m); wake != nil {
		return Step{Do: Start, Wake: wake}
	}
	ids, next := l.landing(m)
	idle := len(ids)+len(l.Merging) == 0 && next.IsZero()
	return Step{Do: Wait, Until: p.next, Idle: idle, Reason: l.nothing("review")}
}

// planToReview is the plan that the agent reviews next, nil for none. The idle agents of its role
// that come before it take one each.
func (l Look) planToReview(m *Memory) *report.Wake {
	plans := report.PlansToReview(l.State, l.Agent)
	for _, w := range plans[min(len(plans), len(l.idleBefore())):] {
		if wake := m.wake(w.Goal, []report.Wake{w}); wake != nil {
			return wake
		}
	}
	return nil
}

// nothing explains why there is nothing to do.
func (l Look) nothing(what string) string {
	if t := l.State.Task(l.Only); t != nil {
		return fmt.Sprintf("nothing to %s: %s is %s", what, t.ID, t.Status)
	}
	return "nothing to " + what
}

// plan is a planner's next step: first what is due by time, then the first trigger not handled yet.
func (l Look) plan(m *Memory) Step {
	sprint := l.State.Sprint()
	var due time.Time
	if d := sprint.Timeline.Deadline; sprint.Status == board.InProgress && !d.IsZero() {
		if due = d.Std(); !l.Now.Before(due) {
			return Step{Do: Deadline}
		}
	}
	own := ""
	if a := l.State.Agent(l.Agent); a != nil {
		own = a.Goal
	}
	goals := l.State.Running()
	slices.SortStableFunc(goals, func(a, b *board.Goal) int { return report.CompareBools(a.ID != own, b.ID != own) })
	wait := Step{Do: Wait, Until: due, Idle: true, Reason: "nothing to plan"}
	for _, g := range goals {
		step := l.planOf(g, m)
		switch {
		case step.Do != Wait && g.ID == own:
			return step
		case step.Do != Wait && l.State.PlannerOf(g.ID) != l.Agent:
			return Step{Do: Plan, Goal: g.ID}
		case step.Reason != "":
			wait.Idle, wait.Reason = step.Idle, step.Reason
		}
		wait.Until = sooner(wait.Until, step.Until)
	}
	return wait
}

// planOf is the step that a goal requires of this planner.
func (l Look) planOf(g *board.Goal, m *Memory) Step {
	if other, until := l.plannedBy(g.ID); other != "" {
		return Step{Do: Wait, Until: until, Idle: true, Reason: other + " plans"}
	}
	if by := l.State.PlannerOf(g.ID); by != "" && by != l.Agent && report.Drafted(l.State, g) {
		return Step{Do: Plan, Goal: g.ID} // that planner is dead
	}
	wakes := report.Wakes(l.State, g.ID)
	wake := m.wake(g.ID, wakes)
	switch {
	case wake == nil && m.mayComplete(wakes) && l.State.AwaitsEnd(g) != "":
		return Step{Do: Wait, Idle: true, Reason: g.ID + " waits for " + l.State.AwaitsEnd(g)}
	case wake == nil && m.mayComplete(wakes):
		return Step{Do: CompleteGoal, Goal: g.ID}
	case wake == nil && l.State.Team().PlanReviewer() == roles.HumanID && slices.ContainsFunc(l.State.TasksOf(g.ID), func(b board.Brief) bool { return b.Plan == board.PlanProposed }):
		return Step{Do: Wait, Idle: true, Reason: "the plan of " + g.ID + " waits for a human's review: git liza plan"}
	case wake == nil && len(wakes) > 0:
		return Step{Do: Wait, Idle: true, Reason: fmt.Sprintf("%s is left to a human: git liza status", wakes[0].Trigger)}
	case wake == nil:
		return Step{Do: Wait}
	case slices.Contains(l.NoSpec, g.ID):
		return Step{Do: Wait, Reason: fmt.Sprintf("no planner is started without the spec of %s: commit %[2]s, then git liza land --spec %[2]s", g.ID, g.Spec())}
	}
	return Step{Do: Start, Wake: wake}
}
