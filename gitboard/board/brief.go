package board

import (
	"cmp"
	"slices"
	"strings"
)

// Brief is the part of a task that is needed to choose among many. It is small, so that the briefs
// of a large board can be kept at hand without reading the tasks themselves.
type Brief struct {
	ID              string    `json:"id"`
	Goal            string    `json:"goal"`
	Title           string    `json:"title"` // see Task.Heading
	Status          Status    `json:"status"`
	StatusChangedAt Time      `json:"at"`
	Moved           Time      `json:"moved"` // when it last made progress
	Priority        int       `json:"priority"`
	Stage           string    `json:"stage,omitempty"` // "" for CodeStage; see InStage
	Plan            PlanState `json:"plan,omitempty"`
	Created         Time      `json:"created"`
	AssignedTo      string    `json:"assigned_to,omitempty"`
	ReviewingBy     string    `json:"reviewing_by,omitempty"`
	ApprovedBy      string    `json:"approved_by,omitempty"`
	ReservedFor     string    `json:"reserved_for,omitempty"`
	DependsOn       []string  `json:"depends_on,omitempty"`
	Touches         []string  `json:"touches,omitempty"` // files or globs that it is expected to change
	Iteration       int       `json:"iteration,omitempty"`
	ReviewCycles    int       `json:"review_cycles,omitempty"`
	Failures        int       `json:"failures,omitempty"`
	HandoffPending  bool      `json:"handoff_pending,omitempty"`
	Freed           bool      `json:"freed,omitempty"`
	Paused          bool      `json:"paused,omitempty"`
	Tally           Tally     `json:"-"`
}

// Brief returns the task's brief.
func (t *Task) Brief() Brief {
	return Brief{
		ID: t.ID, Goal: t.Goal, Title: t.Heading(), Status: t.Status, StatusChangedAt: t.StatusChangedAt, Moved: t.moved(), Priority: t.Priority, Stage: t.Stage, Plan: t.Plan, Created: t.Created,
		AssignedTo: t.AssignedTo, ReviewingBy: t.ReviewingBy, ApprovedBy: t.ApprovedBy, ReservedFor: t.ReservedFor,
		DependsOn: t.DependsOn, Touches: t.touches(), Iteration: t.Iteration, ReviewCycles: t.ReviewCyclesTotal, Failures: len(t.FailedBy),
		HandoffPending: t.HandoffPending, Freed: t.Freed, Paused: t.Paused, Tally: t.tally(),
	}
}

// Holds reports whether the agent works on the task: the task is CLAIMED by it and not handed off.
func (b Brief) Holds(agent string) bool {
	return b.Status == Claimed && b.AssignedTo == agent && !b.HandoffPending
}

// Briefs implements Source.
func (s *State) Briefs() (map[string]Brief, error) {
	var all map[string]Brief
	if s.src != nil {
		below, err := s.src.Briefs()
		if err != nil {
			s.fail(err)
			return nil, err
		}
		all = below
	}
	changed := false
	for path := range s.over {
		changed = changed || strings.HasPrefix(path, TaskDir+"/")
	}
	if !changed {
		return all, nil
	}
	merged := make(map[string]Brief, len(all)+1)
	s.eachBrief(all, func(b Brief) { merged[b.ID] = b })
	return merged, nil
}

// eachBrief visits the briefs of a source as the state has changed them, in no particular order.
func (s *State) eachBrief(below map[string]Brief, visit func(Brief)) {
	changed := map[string]bool{}
	for path := range s.over {
		if id, _, is := TaskPath(path); is {
			changed[id] = true
		}
	}
	for id, b := range below {
		if !changed[id] {
			visit(b)
		}
	}
	for path, r := range s.over {
		if t, ok := r.(*Task); ok && strings.HasPrefix(path, TaskDir+"/") {
			visit(t.Brief())
		}
	}
}

// BriefOf returns the brief of a task, archived or not; false if there is none.
func (s *State) BriefOf(id string) (Brief, bool) {
	if t, ok := s.over[RecordPath(TaskDir, id)].(*Task); ok {
		return t.Brief(), true
	}
	if _, removed := s.over[RecordPath(TaskDir, id)]; !removed && s.src != nil {
		below, err := s.src.Briefs()
		if err != nil {
			s.fail(err)
		}
		if b, ok := below[id]; ok {
			return b, ok
		}
	}
	path, b, _ := s.Archived(id)
	return b, path != ""
}

// Merged reports whether a task has landed.
func (s *State) Merged(id string) bool {
	b, ok := s.BriefOf(id)
	return ok && b.Status == Merged
}

// EachBrief visits the brief of every task that is not archived, in no particular order.
func (s *State) EachBrief(visit func(Brief)) {
	var below map[string]Brief
	if s.src != nil {
		var err error
		if below, err = s.src.Briefs(); err != nil {
			s.fail(err)
			return
		}
	}
	s.eachBrief(below, visit)
}

// Tasks lists the briefs of all tasks that are not archived, by the priority of the goal, then the
// task's own priority, then age, then id.
func (s *State) Tasks() []Brief {
	var list []Brief
	s.EachBrief(func(b Brief) { list = append(list, b) })
	first := s.goalOrder(list)
	slices.SortFunc(list, func(a, b Brief) int {
		return cmp.Or(cmp.Compare(first[a.Goal], first[b.Goal]), cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// goalOrder returns the priority of each goal that tasks belong to; nil if all belong to one.
func (s *State) goalOrder(tasks []Brief) map[string]int {
	several := slices.ContainsFunc(tasks, func(b Brief) bool { return b.Goal != tasks[0].Goal })
	if !several {
		return nil
	}
	order := map[string]int{}
	for _, b := range tasks {
		if _, known := order[b.Goal]; known {
			continue
		}
		order[b.Goal] = defaultPriority
		if g := s.Goal(b.Goal); g != nil {
			order[b.Goal] = g.Priority
		}
	}
	return order
}

// heldBy returns the task that an agent works on, "" for none.
func (s *State) heldBy(agent string) string {
	return s.first(func(b Brief) bool { return b.Holds(agent) })
}

// reviewedBy returns the submission that an agent reviews, "" for none.
func (s *State) reviewedBy(agent string) string {
	return s.first(func(b Brief) bool { return b.Status == ReadyForReview && b.ReviewingBy == agent })
}

// first returns the first of some tasks by its id, "" for none.
func (s *State) first(is func(Brief) bool) string {
	first := ""
	s.EachBrief(func(b Brief) {
		if is(b) && (first == "" || b.ID < first) {
			first = b.ID
		}
	})
	return first
}

// dependents lists the unfinished tasks that depend on a task, sorted.
func (s *State) dependents(task string) []string {
	var ids []string
	s.EachBrief(func(b Brief) {
		if !b.Status.Terminal() && slices.Contains(b.DependsOn, task) {
			ids = append(ids, b.ID)
		}
	})
	slices.Sort(ids)
	return ids
}
