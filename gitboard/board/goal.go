package board

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// FirstGoal is the goal that init starts.
const FirstGoal = "goal-1"

// defaultPriority is the priority of a goal or a task without an explicit one.
const defaultPriority = 3

// GoalPath is the path of a goal's record.
func GoalPath(id string) string { return RecordPath(GoalDir, id) }

// Goal returns a goal; nil if there is none.
func (s *State) Goal(id string) *Goal {
	if !ValidTaskID(id) {
		return nil
	}
	return get[Goal](s, GoalPath(id))
}

// Goals lists the goals: by priority, then age, then id.
func (s *State) Goals() []*Goal {
	var all []*Goal
	for _, id := range s.List(GoalDir) {
		if g := s.Goal(id); g != nil {
			all = append(all, g)
		}
	}
	if len(all) == 0 && s.forRules && s.Meta() != nil {
		s.fail(&MissingError{GoalDir})
	}
	slices.SortStableFunc(all, func(a, b *Goal) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Created, b.Created), compareNumbered(a.ID, b.ID))
	})
	return all
}

// compareNumbered orders goal-2 before goal-10.
func compareNumbered(a, b string) int {
	const digits = "0123456789"
	if strings.TrimRight(a, digits) == strings.TrimRight(b, digits) {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	}
	return cmp.Compare(a, b)
}

// Running lists the goals being worked on, in the order of Goals: those in progress that need not
// wait for another goal in progress.
func (s *State) Running() []*Goal {
	return slices.DeleteFunc(s.Goals(), func(g *Goal) bool { return !s.runs(g) })
}

// Runs reports whether a goal is being worked on.
func (s *State) Runs(id string) bool {
	g := s.Goal(id)
	return g != nil && s.runs(g)
}

func (s *State) runs(g *Goal) bool { return g.Status == InProgress && s.comesAfter(g) == nil }

// HasEnded reports whether a goal exists and was completed or aborted.
func (s *State) HasEnded(id string) bool {
	g := s.Goal(id)
	return g != nil && g.Status != InProgress
}

// urgencies returns the priorities of the goals that runs may begin for.
func (s *State) urgencies() map[string]int {
	priorities := map[string]int{}
	for _, g := range s.Running() {
		if SpentGoal(s, g) == nil {
			priorities[g.ID] = g.Priority
		}
	}
	return priorities
}

// comesAfter returns the goal that a goal waits for; nil for none.
func (s *State) comesAfter(g *Goal) *Goal {
	if first := s.Goal(g.After); first != nil && first.Status == InProgress {
		return first
	}
	return nil
}

// TheGoal returns the goal that is meant by default: the only one being worked on or, without such
// a goal, the one that ended last. It is nil while several are being worked on.
func (s *State) TheGoal() *Goal {
	running := s.Running()
	if len(running) == 1 {
		return running[0]
	}
	var last *Goal
	for _, g := range s.Goals() {
		if last == nil || g.Ended >= last.Ended {
			last = g
		}
	}
	if len(running) > 0 {
		return nil
	}
	return last
}

// Purpose is the purpose of the board: the text of TheGoal, or the texts of all goals being worked
// on.
func (s *State) Purpose() string {
	if g := s.TheGoal(); g != nil {
		return g.Description
	}
	var texts []string
	for _, g := range s.Running() {
		texts = append(texts, g.Description)
	}
	return strings.Join(texts, "; ")
}

// FindGoal returns the named goal or, without a name, the only one being worked on. Otherwise it
// refuses and suggests the nearest names.
func (s *State) FindGoal(id string) (*Goal, error) {
	if id != "" {
		if g := s.Goal(id); g != nil || s.Err() != nil {
			return g, s.Err()
		}
		return nil, refuse(CodeUnknownRecord, "no goal is called %s", quote(id)).meant(id, s.List(GoalDir), ActOn("goal-list"))
	}
	switch running := s.Running(); {
	case s.Err() != nil:
		return nil, s.Err()
	case len(running) == 1:
		return running[0], nil
	case len(running) > 1:
		r := invalid("%d goals are worked on; name one of them: %s", len(running), all(goalIDs(running))).Way(ActOn("goal-list"))
		r.Goal = running[0].ID
		return nil, r
	}
	return nil, s.allEnded()
}

func goalIDs(goals []*Goal) []string {
	var ids []string
	for _, g := range goals {
		ids = append(ids, g.ID)
	}
	return ids
}

// ended refuses an operation that needs a goal in progress.
func (g *Goal) ended() *Refusal {
	return refuse(CodeWrongState, "%s is %s since %s (by %s)", g.ID, g.Status, g.Ended, g.EndedBy).
		Advise("a human takes it up again (%s) or starts another (%s)", ActOn("goal-reopen", g.ID), ActOn("goal-start", exampleText))
}

// allEnded refuses an operation that needs a goal in progress where there is none.
func (s *State) allEnded() error {
	if g := s.TheGoal(); g != nil {
		return g.ended()
	}
	return firstErr(s, refuse(CodeUnknownRecord, "there is no goal"))
}

// GoalFor returns the goal that an agent works for: that of its task t, if it has one, or the one
// that it plans. It is nil if there is none.
func GoalFor(s *State, agent string, t *Task) *Goal {
	if t != nil && s.Goal(t.Goal) != nil {
		return s.Goal(t.Goal)
	}
	if a := s.Agent(agent); a != nil && s.Runs(a.Goal) {
		return s.Goal(a.Goal)
	}
	return nil
}

// goalMeant returns the goal of an operation that may name one: without a name, the one that its
// author works for, else the only one being worked on.
func (s *State) goalMeant(op Operation, named string) (*Goal, error) {
	if g := GoalFor(s, op.Actor.ID, nil); named == "" && g != nil {
		return g, nil
	}
	return s.FindGoal(named)
}

// knownGoal refuses the name of a goal that is not on the board.
func (s *State) knownGoal(named string) error {
	if named == "" {
		return nil
	}
	_, err := s.FindGoal(named)
	return err
}

// goalOf returns the goal that a new record concerns if its task names none: the named one, or the
// one that its author works for; "" if there is none.
func (s *State) goalOf(op Operation, named, task string) string {
	if named != "" || task != "" {
		return named
	}
	a := s.Agent(op.Actor.ID)
	if a == nil {
		return ""
	}
	if g := GoalFor(s, op.Actor.ID, s.Task(a.CurrentTask)); g != nil {
		return g.ID
	}
	return ""
}

// goalInProgress is goalMeant for an operation that needs a goal in progress.
func (s *State) goalInProgress(op Operation, named string) (*Goal, error) {
	g, err := s.goalMeant(op, named)
	if err == nil && g.Status != InProgress {
		return nil, g.ended()
	}
	return g, err
}

// checkGoal refuses work on the tasks of a goal that ended or has to wait. Operations that tidy up
// are always allowed, as on an aborted board.
func checkGoal(s *State, op Operation) error {
	rule, _ := ruleOf(op.Name())
	if rule.moves == nil || rule.anyState || rule.gate == always || rule.creates() {
		return nil
	}
	t := s.Task(op.TaskID())
	if t == nil {
		return nil
	}
	g := s.Goal(t.Goal)
	if g == nil {
		return nil // the invariants report it
	}
	if g.Status != InProgress {
		return g.ended().on(t)
	}
	if first := s.comesAfter(g); first != nil && rule.gate == whileRunning {
		return refuse(CodeDependency, "%s is of %s, which comes after %s", t.ID, g.ID, first.ID).on(t).
			Way(ActOn("goal-show", first.ID))
	}
	if b := SpentGoal(s, g); b != nil && rule.gate == whileRunning && !rule.ends {
		return refuse(CodeMode, "%s is of %s, whose budget is used up: %s", t.ID, g.ID, b).on(t).Advise("a human: %s", b.Raise())
	}
	return nil
}

// NextGoal returns the id for a goal whose human names none.
func NextGoal(s *State) string {
	most := 0
	for _, id := range s.List(GoalDir) {
		if prefix, n := split(id); prefix == "goal" {
			most = max(most, n)
		}
	}
	return "goal-" + strconv.Itoa(most+1)
}

// PlannerOf returns the agent that plans a goal, "" for none.
func (s *State) PlannerOf(goal string) string {
	for _, id := range s.List(AgentDir) {
		if a := s.Agent(id); a != nil && a.Goal == goal {
			return id
		}
	}
	return ""
}

// TasksOf lists the briefs of a goal's tasks that are not archived, in the order of Tasks.
func (s *State) TasksOf(goal string) []Brief {
	return slices.DeleteFunc(s.Tasks(), func(b Brief) bool { return b.Goal != goal })
}

// Planned reports whether a goal has a task, archived or not.
func (s *State) Planned(g *Goal) bool {
	some := g.Archived > 0
	s.EachBrief(func(b Brief) { some = some || b.Goal == g.ID })
	return some
}

// unfinished returns an unfinished task of a goal; false if there is none.
func (s *State) unfinished(goal string) (Brief, bool) {
	for _, b := range s.TasksOf(goal) {
		if !b.Status.Terminal() {
			return b, true
		}
	}
	return Brief{}, false
}

// end ends a goal.
func (g *Goal) end(as Phase, op Operation) { g.Status, g.Ended, g.EndedBy = as, op.Time, op.Actor.ID }

// align appends to a goal's alignment history. If the history is full, it adds nothing: the
// operation is on the board anyway, and would otherwise have to be refused.
func align(s *State, op Operation, goal, event, summary string) {
	g := s.Goal(goal)
	entry := Alignment{Timestamp: op.Time, Event: event, Summary: summary}
	if g == nil || Size(g)+Size(&entry) > maxAligned {
		return
	}
	g = edit[Goal](s, GoalPath(goal))
	g.AlignmentHistory = append(slices.Clip(g.AlignmentHistory), entry)
}

// alignRunning is align for every goal being worked on.
func alignRunning(s *State, op Operation, event, summary string) {
	for _, g := range s.Running() {
		align(s, op, g.ID, event, summary)
	}
}

// GoalStates describes the states of the goals in one line.
func GoalStates(goals []*Goal) string {
	var parts []string
	for _, g := range goals {
		parts = append(parts, g.ID+" is "+string(g.Status))
	}
	return strings.Join(parts, ", ")
}

func goalInvariants(s *State, path string, g *Goal, bad func(string, string, ...any)) {
	if GoalPath(g.ID) != path {
		bad("id", "%s is not where the record is", quote(g.ID))
	}
	if phases := []Phase{InProgress, Completed, PhaseAborted}; !slices.Contains(phases, g.Status) {
		bad("status", "%q is not a state of a goal: use %s", g.Status, list(phases))
	}
	if !isPriority(g.Priority) {
		bad("priority", "%d is not from 1 to 5", g.Priority)
	}
	if (g.Status == InProgress) != g.Ended.IsZero() {
		bad("ended", "%q does not fit %s", g.Ended, g.Status)
	}
	if g.After != "" && s.Goal(g.After) == nil {
		bad("after", "there is no goal %s", g.After)
	}
	var passed []string
	for at := g; at != nil && at.After != "" && !slices.Contains(passed, at.ID); at = s.Goal(at.After) {
		if passed = append(passed, at.ID); at.After == g.ID {
			bad("after", "the goal waits for itself: %s", strings.Join(append(passed, g.ID), " -> "))
		}
	}
}
