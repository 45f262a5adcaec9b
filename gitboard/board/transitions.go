package board

import (
	"slices"

	"github.com/git-liza/git-liza/roles"
)

// Transition is a row of the table of task states: an operation may take a task from any of From to To.
// To None means that the state stays.
type Transition struct {
	From []Status
	To   Status
	Op   string
	Who  []roles.Role
	Note string
}

var (
	planning = []roles.Role{roles.Planner, roles.Human}
	coder    = []roles.Role{roles.Coder}
	reviewer = []roles.Role{roles.CodeReviewer}
	human    = []roles.Role{roles.Human}
	system   = []roles.Role{roles.System}
	anyone   = []roles.Role{roles.Planner, roles.Coder, roles.CodeReviewer, roles.Human}
	living   = []Status{Draft, Unclaimed, Claimed, ReadyForReview, Rejected, Approved, IntegrationFailed, Blocked}
)

// Transitions is the table. What is not in it is refused. Rows by the system are effects inside the
// commit of the operation that they name.
var Transitions = []Transition{
	{[]Status{None}, Draft, "add-task", planning, ""},
	{[]Status{None}, Unclaimed, "add-task", human, "injected with --ready"},
	{[]Status{Draft}, Unclaimed, "finalize", planning, "every gate passed"},
	{[]Status{Draft, Unclaimed, Blocked}, None, "amend-task", planning, "reason needed unless DRAFT"},
	{[]Status{Draft, Unclaimed, Blocked}, Abandoned, "abandon", planning, "no live task depends on it"},
	{[]Status{Draft, Unclaimed, Blocked}, Superseded, "supersede", planning, "replacements exist"},
	{[]Status{Unclaimed}, Claimed, "claim", coder, "dependencies MERGED; or kept work resumed"},
	{[]Status{Rejected}, Claimed, "claim", coder, "its author; another once the author is gone or it was freed"},
	{[]Status{Claimed}, Claimed, "claim", coder, "hand-off pending, or the lease has expired"},
	{[]Status{IntegrationFailed}, Claimed, "claim", coder, "integration fix"},
	{[]Status{Rejected, IntegrationFailed, Claimed}, Blocked, "iteration-limit", coder, "instead of a claim that would pass the limit"},
	{[]Status{Claimed}, None, "pre-exec", coder, ""},
	{[]Status{Claimed}, None, "handoff", coder, "the lease ends"},
	{[]Status{Claimed}, Unclaimed, "release", anyone, "its holder; a human; anyone once the lease has expired; the work goes to the attic, or stays when a human recovers it"},
	{[]Status{ReadyForReview}, None, "release", anyone, "its reviewer; a human; anyone once the lease has expired"},
	{[]Status{Claimed}, ReadyForReview, "submit", coder, "clean worktree, a commit, a checkpoint, tests"},
	{[]Status{Claimed}, Blocked, "block", []roles.Role{roles.Coder, roles.Human}, "its coder, with questions; a human by force"},
	{[]Status{Unclaimed, ReadyForReview, Rejected, Approved}, Blocked, "block", human, "force replan"},
	{[]Status{IntegrationFailed}, Blocked, "block", planning, "force replan"},
	{[]Status{ReadyForReview}, None, "claim-review", reviewer, "no live review claim; never its own work"},
	{[]Status{ReadyForReview}, Claimed, "withdraw", coder, "its author, while no review claim is live"},
	{[]Status{ReadyForReview}, Approved, "verdict", reviewer, "the assigned reviewer, on the submitted commit"},
	{[]Status{ReadyForReview}, Rejected, "verdict", reviewer, "with a rejection in due form"},
	{[]Status{ReadyForReview}, Blocked, "verdict", system, "REJECTED at the limit of review cycles: review_deadlock"},
	{[]Status{Approved}, Merged, "merge", reviewer, "candidate built and tested"},
	{[]Status{Approved}, IntegrationFailed, "merge", reviewer, "conflict or failing integration test"},
	{[]Status{Approved}, Merged, "finish-merge", anyone, "integration holds the approved commit already"},
	{[]Status{IntegrationFailed, Blocked}, Approved, "retry-merge", []roles.Role{roles.CodeReviewer, roles.Human}, "the same commit merges cleanly now"},
	{[]Status{Blocked}, Unclaimed, "unblock", planning, "also --keep-work"},
	{[]Status{Blocked}, Claimed, "unblock", planning, "--same-coder"},
	{[]Status{Rejected}, None, "reassign", planning, "frees it for another coder"},
	{living, None, "pause", human, "one task"},
	{living, None, "resume", human, "one task"},
}

// moves reports whether the table lets an operation by a role take a task from one state to another.
func moves(op string, who roles.Role, from, to Status) bool {
	return slices.ContainsFunc(Transitions, func(t Transition) bool {
		return t.Op == op && slices.Contains(t.From, from) &&
			(t.To == to || t.To == None && from == to) &&
			(slices.Contains(t.Who, who) || slices.Contains(t.Who, roles.System))
	})
}

// startsFrom lists the states from which a role may ask for an operation, in the order of the flow.
func startsFrom(op string, who roles.Role) []Status {
	var from []Status
	for _, s := range Statuses {
		if slices.ContainsFunc(Transitions, func(t Transition) bool {
			return t.Op == op && slices.Contains(t.From, s) && slices.Contains(t.Who, who)
		}) {
			from = append(from, s)
		}
	}
	return from
}

// AllowedFrom lists the operations that a role may ask for on a task in a state, in the table's order.
func AllowedFrom(s Status, who roles.Role) []string {
	var ops []string
	for _, t := range Transitions {
		if slices.Contains(t.From, s) && slices.Contains(t.Who, who) && !slices.Contains(ops, t.Op) {
			ops = append(ops, t.Op)
		}
	}
	return ops
}
