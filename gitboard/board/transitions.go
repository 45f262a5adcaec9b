package board

import (
	"slices"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// Transition is what an operation may do to the state of its task: take it from any of From to To. To None
// means that the state stays. Rows by the system are effects inside the commit of their operation.
type Transition struct {
	From []Status
	To   Status
	Op   string // in Transitions; in the table of operations it is the row's
	Who  []roles.Role
	Note string
}

// Transitions lists the moves of all operations. What is not among them is refused.
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

// allow reports whether an operation by a role may take a task from one state to another.
func (r rule) allow(who roles.Role, from, to Status) bool {
	return slices.ContainsFunc(r.moves, func(t Transition) bool {
		return slices.Contains(t.From, from) &&
			(t.To == to || t.To == None && from == to) &&
			(slices.Contains(t.Who, who) || slices.Contains(t.Who, roles.System))
	})
}

// creates reports whether an operation makes the task that it names.
func (r rule) creates() bool {
	return slices.ContainsFunc(r.moves, func(t Transition) bool { return slices.Contains(t.From, None) })
}

func (r rule) startsFrom(s Status, who roles.Role) bool {
	return slices.ContainsFunc(r.moves, func(t Transition) bool {
		return slices.Contains(t.From, s) && slices.Contains(t.Who, who)
	})
}

// starts lists the states from which a role may ask for an operation, in the order of the flow.
func (r rule) starts(who roles.Role) []Status {
	var from []Status
	for _, s := range Statuses {
		if r.startsFrom(s, who) {
			from = append(from, s)
		}
	}
	return from
}

// AllowedFrom lists the operations that a role may ask for on a task in a state, in the table's order.
func AllowedFrom(s Status, who roles.Role) []string {
	return opsThat(func(r rule) bool { return r.startsFrom(s, who) })
}
