package board

import (
	"cmp"
	"slices"
)

// OfGoal returns what a board has of one goal: the goal, its tasks, archived ones among the others,
// and the records about them or about no goal. The goal no longer waits for other goals, and their
// agents are not registered.
func OfGoal(s *State, goal string) *State {
	all := Unarchived(s)
	part := all.next(all.Time())
	ours := func(task, about string) bool {
		if t := all.Task(task); t != nil {
			return t.Goal == goal
		}
		return about == "" || about == goal
	}
	keep := func(ids []string) []string {
		return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !ours(id, "") })
	}
	drop := func(dir string, about func(id string) (task, goal string)) {
		for _, id := range all.List(dir) {
			if !ours(about(id)) {
				remove(part, RecordPath(dir, id))
			}
		}
	}
	drop(GoalDir, func(id string) (string, string) { return "", id })
	drop(TaskDir, func(id string) (string, string) { return id, "" })
	drop(HandoffDir, func(id string) (string, string) { return id, "" })
	drop(AgentDir, func(id string) (string, string) { a := all.Agent(id); return a.CurrentTask, a.Goal })
	drop(DiscoveryDir, func(id string) (string, string) {
		d := all.Discovery(id)
		return cmp.Or(d.ConvertedToTask, d.During), d.Goal
	})
	drop(AnomalyDir, func(id string) (string, string) { a := all.Anomaly(id); return a.Task, a.Goal })
	drop(NoteDir, func(id string) (string, string) { n := all.Note(id); return n.For, n.Goal })
	drop(SpecChangeDir, func(id string) (string, string) { c := all.SpecChange(id); return c.TriggeredBy, c.Goal })
	if g := all.Goal(goal); g != nil {
		alone := *g
		alone.After = ""
		put(part, RecordPath(GoalDir, goal), &alone)
	}
	for _, b := range all.TasksOf(goal) {
		t := *all.Task(b.ID)
		t.DependsOn, t.Supersedes, t.SupersededBy = keep(t.DependsOn), keep(t.Supersedes), keep(t.SupersededBy)
		put(part, RecordPath(TaskDir, t.ID), &t)
	}
	sprint := *all.Sprint()
	sprint.Scope = SprintScope{Planned: keep(sprint.Scope.Planned), Stretch: keep(sprint.Scope.Stretch)}
	put(part, SprintPath, &sprint)
	return part
}
