package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
)

// GoalOutlook is a goal, and how far it has come.
type GoalOutlook struct {
	ID       string      `json:"id"`
	Text     string      `json:"text"`
	SpecRef  string      `json:"spec_ref,omitempty"`
	Status   board.Phase `json:"status"`
	Priority int         `json:"priority"`
	After    string      `json:"after,omitempty"`     // the goal that comes before it
	WaitsFor string      `json:"waits_for,omitempty"` // the same, while that one is in progress
	Created  board.Time  `json:"created"`
	Ended    board.Time  `json:"ended,omitempty"`
	EndedBy  string      `json:"ended_by,omitempty"`
	Planner  string      `json:"planner,omitempty"` // who plans it
	Tasks    int         `json:"tasks"`             // all, archived ones too
	Merged   int         `json:"merged"`            // of those that are not archived
	Open     int         `json:"open"`              // not over
	Blocked  int         `json:"blocked"`
	Tokens   int         `json:"tokens,omitempty"`
}

// Over reports whether a goal has tasks and all of them are over.
func (g GoalOutlook) Over() bool { return g.Tasks > 0 && g.Open == 0 }

// GoalsOf lists the goals, each with how far it has come: by priority, then age.
func GoalsOf(s *board.State) []GoalOutlook {
	var all []GoalOutlook
	at := map[string]int{}
	for _, g := range s.Goals() {
		o := GoalOutlook{
			ID: g.ID, Text: g.Description, SpecRef: g.SpecRef, Status: g.Status, Priority: g.Priority, After: g.After, Created: g.Created,
			Ended: g.Ended, EndedBy: g.EndedBy, Planner: s.PlannerOf(g.ID), Tasks: g.Archived, Tokens: g.Tokens,
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

// ShownTasks are the tasks that a reader of the whole board looks at: those of the goal that is named,
// else those of the goals in progress, else all.
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

// goals says what the run is for: of the one goal that is named, or of those that are worked on.
func (o *Overview) goals(all []GoalOutlook, only string) {
	if len(all) > 1 {
		o.Goals = all
	}
	var last *GoalOutlook
	var names []string
	for i, g := range all {
		switch {
		case only != "" && g.ID != only:
			continue
		case g.Status == board.InProgress && g.WaitsFor == "":
			o.running, names = append(o.running, g), append(names, g.ID)
		}
		if last == nil || g.Ended >= last.Ended {
			last = &all[i]
		}
	}
	switch {
	case len(o.running) > 1:
		o.Goal, o.GoalStatus = fmt.Sprintf("%d goals: %s", len(names), strings.Join(names, ", ")), board.InProgress
	case len(o.running) == 1:
		o.Goal, o.GoalStatus = o.running[0].Text, board.InProgress
	case last != nil:
		o.Goal, o.GoalStatus = last.Text, last.Status
	}
}

// of names a goal where there are several.
func (o *Overview) of(g GoalOutlook) string {
	if len(o.running) == 1 {
		return ""
	}
	return g.ID + ": "
}

// completing is the command that completes a goal.
func (o *Overview) completing(g GoalOutlook) string {
	if len(o.running) == 1 {
		return "git liza goal complete"
	}
	return "git liza goal complete " + g.ID
}

// GoalFor is the goal for which an agent works: that of its task, the one that it plans, or the one that is meant where
// none is named; nil where several are worked on and it has none.
func GoalFor(s *board.State, agent string, t *board.Task) *board.Goal {
	if t != nil {
		if g := s.Goal(t.Goal); g != nil {
			return g
		}
	}
	if a := s.Agent(agent); a != nil && s.Runs(a.Goal) {
		return s.Goal(a.Goal)
	}
	return s.TheGoal()
}

// WakesOf lists what wakes a planner: the triggers of the goal that it plans, else those of all goals that nobody plans.
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
