package board

import (
	"cmp"
	"slices"

	"github.com/bmatcuk/doublestar/v4"
)

// maxTouches is how many globs a task may declare.
const maxTouches = 50

// claimOrder compares tasks of one goal by the order in which they should be claimed.
type claimOrder struct {
	waiting  map[string][]string // by task: the unfinished tasks that depend on it
	behind   map[string]int      // by task: the length of the chain behind it, as far as known
	live     []Brief             // work that has begun and is not merged
	declared map[string]int      // by glob: the tasks not begun that declare it
	overlaps map[string]int      // by task, as far as known
}

func newClaimOrder(tasks []Brief) *claimOrder {
	o := &claimOrder{waiting: map[string][]string{}, behind: map[string]int{}, overlaps: map[string]int{}, declared: map[string]int{}}
	for _, b := range tasks {
		if b.Status.Terminal() {
			continue
		}
		for _, id := range b.DependsOn {
			o.waiting[id] = append(o.waiting[id], b.ID)
		}
		if b.underWay() {
			o.live = append(o.live, b)
			continue
		}
		for _, glob := range b.Touches {
			o.declared[glob]++
		}
	}
	return o
}

// underWay reports whether work on the task has begun and may still change integration.
func (b Brief) underWay() bool {
	return slices.Contains([]Status{Claimed, ReadyForReview, Rejected, Approved, IntegrationFailed}, b.Status)
}

// ClaimOrder returns a function that compares tasks by the order in which they should be claimed:
// by goal in the order given, by priority (an integration fix counts as 0), by the length of the
// chain of unfinished tasks behind them, by the overlap with work that is under way, by the number of
// tasks that must wait to avoid an overlap with it, by age and by id.
func ClaimOrder(tasks []Brief) func(a, b Brief) int {
	goals, o := map[string]int{}, newClaimOrder(tasks)
	for _, b := range tasks {
		if _, known := goals[b.Goal]; !known {
			goals[b.Goal] = len(goals)
		}
	}
	return func(a, b Brief) int { return cmp.Or(cmp.Compare(goals[a.Goal], goals[b.Goal]), o.compare(a, b)) }
}

func (o *claimOrder) compare(a, b Brief) int {
	if order := cmp.Or(cmp.Compare(a.claimPriority(), b.claimPriority()), cmp.Compare(o.chain(b.ID), o.chain(a.ID))); order != 0 {
		return order
	}
	return cmp.Or(cmp.Compare(o.overlap(a), o.overlap(b)), cmp.Compare(o.holdsUp(b), o.holdsUp(a)), cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
}

func (b Brief) claimPriority() int {
	if b.Status == IntegrationFailed {
		return 0
	}
	return b.Priority
}

// chain is the length of the longest chain of unfinished tasks behind a task. In a cycle of a
// damaged board it is some number.
func (o *claimOrder) chain(id string) int {
	n, known := o.behind[id]
	if known {
		return n
	}
	o.behind[id] = 0
	for _, next := range o.waiting[id] {
		n = max(n, o.chain(next)+1)
	}
	o.behind[id] = n
	return n
}

// waiters is how many unfinished tasks wait for a task, directly or behind others.
func (o *claimOrder) waiters(id string) int {
	seen := map[string]bool{}
	var visit func(id string)
	visit = func(id string) {
		for _, next := range o.waiting[id] {
			if !seen[next] {
				seen[next] = true
				visit(next)
			}
		}
	}
	visit(id)
	return len(seen)
}

// overlap is how many tasks that are under way may change the same files. It goes by the files that
// planners and checkpoints declare, and is a hint.
func (o *claimOrder) overlap(b Brief) int {
	if len(b.Touches) == 0 || len(o.live) == 0 {
		return 0
	}
	n, known := o.overlaps[b.ID]
	if !known {
		for _, other := range o.live {
			if other.ID != b.ID && touch(b.Touches, other.Touches) {
				n++
			}
		}
		o.overlaps[b.ID] = n
	}
	return n
}

// holdsUp is how often tasks that have not begun declare a glob of this task.
func (o *claimOrder) holdsUp(b Brief) (n int) {
	for _, glob := range b.Touches {
		n += o.declared[glob]
	}
	return n
}

// touch reports whether two lists of files or globs may name the same file.
func touch(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return x == y || matches(x, y) || matches(y, x) })
	})
}

// Chains returns a function for the length of the longest chain of unfinished tasks behind a task.
func Chains(tasks []Brief) func(id string) int { return newClaimOrder(tasks).chain }

// checkTouches refuses globs that can't be declared.
func checkTouches(globs []string) error {
	if len(globs) > maxTouches {
		return invalid("touches names %d globs: at most %d allowed", len(globs), maxTouches)
	}
	for _, glob := range globs {
		if !doublestar.ValidatePattern(glob) || glob == "" {
			return invalid("touches: %s is not a glob", quote(glob))
		}
	}
	return nil
}

// touches are the files or globs that the task is expected to change: those of its checkpoint, or
// else of its definition; none once it is finished.
func (t *Task) touches() []string {
	switch c := t.CheckpointOfIteration(); {
	case t.Status.Terminal():
		return nil
	case c != nil && t.Status != Unclaimed && len(c.FilesToModify) > 0:
		return c.FilesToModify[:min(maxTouches, len(c.FilesToModify))]
	}
	return t.Touches
}
