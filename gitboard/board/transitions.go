package board

import (
	"slices"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// Transition is a change that an operation may make to the state of its task: from any of From to
// To. If To is None, the state stays. Rows for the system are effects within the commit of their
// operation.
type Transition struct {
	From []Status
	To   Status
	Op   string // in Transitions; in the table of operations the row names it
	Who  []roles.Role
	Note string
}

// Transitions lists the transitions of all operations. Any other is refused.
func Transitions() []Transition {
	var all []Transition
	for _, r := range rules {
		for _, t := range r.moves {
			t.Op = r.payload.Op()
			all = append(all, t)
		}
	}
	return all
}

// allow reports whether an operation by a role may take a task from one state to another one.
func (r rule) allow(who roles.Role, from, to Status) bool {
	return slices.ContainsFunc(r.moves, func(t Transition) bool {
		return slices.Contains(t.From, from) && t.To == to &&
			(slices.Contains(t.Who, who) || slices.Contains(t.Who, roles.System))
	})
}

// creates reports whether an operation creates the task that it names.
func (r rule) creates() bool {
	return slices.ContainsFunc(r.moves, func(t Transition) bool { return slices.Contains(t.From, None) })
}

func (r rule) startsFrom(s Status, who roles.Role) bool {
	return slices.ContainsFunc(r.moves, func(t Transition) bool {
		return slices.Contains(t.From, s) && slices.Contains(t.Who, who)
	})
}

// starts lists the states in which a role may request an operation, in the order of the flow.
func (r rule) starts(who roles.Role) []Status {
	var from []Status
	for _, s := range Statuses {
		if r.startsFrom(s, who) {
			from = append(from, s)
		}
	}
	return from
}

// AllowedFrom lists the operations that a role may request on a task in a state, in the order of
// the table.
func AllowedFrom(s Status, who roles.Role) []string {
	return opsThat(func(r rule) bool { return r.startsFrom(s, who) })
}
