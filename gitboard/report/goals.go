package report

import (
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/gitboard/board"
)

// GoalOutlook is a goal and its progress.
type GoalOutlook struct {
	ID       string      `json:"id"`
	Text     string      `json:"text"`
	SpecRef  string      `json:"spec_ref,omitempty"`
	Status   board.Phase `json:"status"`
	Priority int         `json:"priority"`
	After    string      `json:"after,omitempty"`     // the goal that comes before it
	WaitsFor string      `json:"waits_for,omitempty"` // After, while that goal is in progress
	Created  board.Time  `json:"created"`
	Ended    board.Time  `json:"ended,omitempty"`
	EndedBy  string      `json:"ended_by,omitempty"`
	Planner  string      `json:"planner,omitempty"` // the agent that plans it
	Tasks    int         `json:"tasks"`             // all of them, including archived ones
	Merged   int         `json:"merged"`            // not counting archived ones
	Open     int         `json:"open"`              // unfinished
	Blocked  int         `json:"blocked"`
	Tokens   int         `json:"tokens,omitempty"`
	Request  string      `json:"pull_request,omitempty"` // the newest, and its state

	Spent       *board.Budget `json:"-"` // its budget once it is used up
	awaitsEnd   bool          // no planner may complete it yet
	awaitsMerge bool          // the merge of its pull request completes it
}

// offering is the command that offers a goal's work, or syncs its pull request.
func (g GoalOutlook) offering() board.Hint {
	if g.Request == "" {
		return board.ActOn("pr-submit", g.ID).Hint()
	}
	return board.ActOn("pr-sync", g.ID).Hint()
}

// Over reports whether a goal has tasks and all of them are finished.
func (g GoalOutlook) Over() bool { return g.Tasks > 0 && g.Open == 0 }

// Finished is how many of its tasks are finished, including archived ones.
func (g GoalOutlook) Finished() int { return g.Tasks - g.Open }

// worked reports whether the goal is worked on.
func (g GoalOutlook) worked() bool { return g.Status == board.InProgress && g.WaitsFor == "" }

// GoalsOf lists the goals with their progress, by priority and then age.
func GoalsOf(s *board.State) []GoalOutlook {
	var all []GoalOutlook
	at := map[string]int{}
	for _, g := range s.Goals() {
		o := GoalOutlook{
			ID: g.ID, Text: g.Description, SpecRef: g.SpecRef, Status: g.Status, Priority: g.Priority, After: g.After, Created: g.Created,
			Ended: g.Ended, EndedBy: g.EndedBy, Planner: s.PlannerOf(g.ID), Tasks: g.Archived, Tokens: g.Tokens,
			Spent: board.SpentGoal(s, g), awaitsEnd: s.AwaitsEnd(g) != "", awaitsMerge: g.AwaitsMerge(s.Config()),
		}
		if r := g.PullRequest; r != nil {
			o.Request = r.String()
		}
		if g.Status == board.InProgress && !s.Runs(g.ID) {
			o.WaitsFor = g.After
		}
		at[g.ID], all = len(all), append(all, o)
	}
	s.EachBrief(func(b board.Brief) {
		i, known := at[b.Goal]
		if !known {
			return
		}
		g := &all[i]
		g.Tasks++
		switch {
		case b.Status == board.Merged:
			g.Merged++
		case b.Status == board.Blocked:
			g.Blocked++
		}
		if !b.Status.Terminal() {
			g.Open++
		}
	})
	return all
}

// ShownTasks returns the tasks for a view of the whole board: those of the named goal, else those
// of the goals in progress, else all.
func ShownTasks(s *board.State, goal string) []board.Brief {
	open := map[string]bool{}
	for _, g := range s.Goals() {
		if g.Status == board.InProgress {
			open[g.ID] = true
		}
	}
	return slices.DeleteFunc(s.Tasks(), func(b board.Brief) bool {
		if goal != "" {
			return b.Goal != goal
		}
		return len(open) > 0 && !open[b.Goal]
	})
}

// WaitsForEnded returns the task that a task waits for although its goal ended, and that goal; nil
// for none. A human decides: the goal is taken up again, or the task waits for another.
func WaitsForEnded(s *board.State, b board.Brief) (needed string, goal *board.Goal) {
	return waitsFor(s, b, func(g *board.Goal) bool { return g.Status != board.InProgress })
}

// WaitsForLater returns the task that a task waits for although its goal comes after the task's own
// goal, and that goal; nil if there is none. Each goal waits for the other, until the task waits
// for another one.
func WaitsForLater(s *board.State, b board.Brief) (needed string, goal *board.Goal) {
	return waitsFor(s, b, func(g *board.Goal) bool { return comesAfter(s, g, b.Goal) })
}

// waitsFor returns the first task of certain other goals that an open task of a goal in progress
// waits for, and its goal; nil if there is none.
func waitsFor(s *board.State, b board.Brief, certain func(*board.Goal) bool) (needed string, goal *board.Goal) {
	if own := s.Goal(b.Goal); b.Status.Terminal() || own == nil || own.Status != board.InProgress {
		return "", nil
	}
	for _, id := range b.DependsOn {
		d, known := s.BriefOf(id)
		if !known || d.Status == board.Merged || d.Goal == b.Goal {
			continue
		}
		if g := s.Goal(d.Goal); g != nil && certain(g) {
			return id, g
		}
	}
	return "", nil
}

// comesAfter reports whether a goal waits for another one, directly or not.
func comesAfter(s *board.State, g *board.Goal, other string) bool {
	seen := map[string]bool{}
	for g != nil && g.Status == board.InProgress && !seen[g.ID] {
		if g.After == other {
			return true
		}
		seen[g.ID] = true
		g = s.Goal(g.After)
	}
	return false
}

// WayOutOfEnded is a human's remedy for a task that waits for one of an ended goal.
func WayOutOfEnded(task string, goal *board.Goal) board.Hint {
	return board.Advice("%s, or %s", reopening(goal), DependOnOthers(task))
}

func reopening(goal *board.Goal) board.Hint { return board.ActOn("goal-reopen", goal.ID).Hint() }

// DependOnOthers is the command by which a task waits for others.
func DependOnOthers(task string) board.Hint {
	return board.ActOn("amend-task", task).With("depends", "OTHERS", "reason", "TEXT").Hint()
}

// goals sets what the run is for: the named goal, or those in progress.
func (o *Overview) goals(all []GoalOutlook, only string) {
	if len(all) > 1 {
		o.Goals = all
	}
	var last *GoalOutlook
	finished, tasks := 0, 0
	for i, g := range all {
		switch {
		case only != "" && g.ID != only:
			continue
		case g.worked():
			o.running, finished, tasks = append(o.running, g), finished+g.Finished(), tasks+g.Tasks
		}
		if last == nil || g.Ended >= last.Ended {
			last = &all[i]
		}
	}
	switch {
	case len(o.running) > 1:
		o.Goal, o.GoalStatus = fmt.Sprintf("%d goals, %d of %d tasks finished", len(o.running), finished, tasks), board.InProgress
	case len(o.running) == 1:
		o.Goal, o.GoalStatus = o.running[0].Text, board.InProgress
	case last != nil:
		o.Goal, o.GoalStatus = last.Text, last.Status
	}
}

// Running lists the goals that the run is for.
func (o *Overview) Running() []GoalOutlook { return o.running }

// of is a prefix that names a goal, "" if only one is in progress.
func (o *Overview) of(g GoalOutlook) string {
	if len(o.running) == 1 {
		return ""
	}
	return g.ID + ": "
}

// completing is the command that completes a goal.
func (o *Overview) completing(g GoalOutlook) board.Hint {
	if len(o.running) == 1 {
		return board.ActOn("goal-complete").Hint()
	}
	return board.ActOn("goal-complete", g.ID).Hint()
}

// WakesOf lists a planner's wake-ups: of the goal that it plans, or else of all goals that nobody
// plans.
func WakesOf(s *board.State, planner string) []Wake {
	if a := s.Agent(planner); a != nil && s.Runs(a.Goal) {
		return Wakes(s, a.Goal)
	}
	running := s.Running()
	var wakes []Wake
	for _, g := range running {
		if len(running) == 1 || s.PlannerOf(g.ID) == "" {
			wakes = append(wakes, Wakes(s, g.ID)...)
		}
	}
	return wakes
}

// ContinuedElsewhere describes the tasks of a goal that open tasks of other goals have replaced:
// the goal may be complete, and this of it is not done.
func ContinuedElsewhere(s *board.State, goal string) []string {
	var lines []string
	for _, b := range s.TasksOf(goal) {
		seen := map[string]bool{}
		var follow func(t *board.Task)
		follow = func(t *board.Task) {
			switch {
			case t == nil || seen[t.ID]:
			case t.Status == board.Superseded:
				seen[t.ID] = true
				for _, id := range t.SupersededBy {
					follow(s.Task(id))
				}
			case t.Goal != goal && !t.Status.Terminal():
				seen[t.ID] = true
				lines = append(lines, fmt.Sprintf("%s continues as %s of %s, which is %s", b.ID, t.ID, t.Goal, t.Status))
			}
		}
		if b.Status == board.Superseded {
			follow(s.Task(b.ID))
		}
	}
	return lines
}
