package board

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// Claim gives a task to a coder. Its worktree exists before the claim is committed.
type Claim struct {
	About
	Clone string `json:"clone"`
	// BaseCommit is where a fresh worktree begins; empty if the work is kept.
	BaseCommit string `json:"base_commit,omitempty"`
	// Kept is the commit that holds the previous coder's work if a fresh worktree replaces it.
	Kept string `json:"kept,omitempty"`
	Evidence
}

// ClaimKind describes how a claim continues a task's life.
type ClaimKind struct {
	Event string // the history event
	Fresh bool   // a new worktree from integration
	Fix   bool   // integration is merged into the kept worktree
}

// Op implements Payload.
func (p *Claim) Op() string { return "claim" }

// KindOfClaim returns what a claim of a task by a coder would be, not whether it is allowed.
func KindOfClaim(t *Task, coder string) ClaimKind {
	mine := t.AssignedTo == coder
	switch {
	case t.Status == Unclaimed && t.Worktree != "":
		return ClaimKind{Event: EventResumed}
	case t.Status == Unclaimed:
		return ClaimKind{Event: EventClaimed, Fresh: true}
	case t.Status == Rejected && mine:
		return ClaimKind{Event: EventReclaimed}
	case t.Status == Rejected:
		return ClaimKind{Event: EventReassignedAfterReject, Fresh: true}
	case t.Status == IntegrationFailed:
		return ClaimKind{Event: EventClaimedForFix, Fix: true}
	case t.HandoffPending:
		return ClaimKind{Event: EventResumed}
	}
	return ClaimKind{Event: EventReclaimedAfterExpiry, Fresh: !mine}
}

// IterationAfterClaim is the iteration of the task that a claim would begin, or continue after a
// hand-off. Iterations of all coders count.
func IterationAfterClaim(t *Task, coder string) int {
	if k := KindOfClaim(t, coder); k.Event == EventResumed && t.Status != Unclaimed {
		return t.Iteration
	}
	return t.Iteration + 1
}

// AtIterationLimit reports whether a claim would exceed the task's iteration limit.
func AtIterationLimit(s *State, t *Task, coder string) bool {
	return IterationAfterClaim(t, coder) > s.Config().IterationsFor(t)
}

// Check implements Payload.
func (p *Claim) Check(s *State, op Operation) error {
	t := s.Task(p.Task)
	if err := mayClaim(s, t, p.Lease, op); err != nil {
		return err
	}
	if AtIterationLimit(s, t, op.Actor.ID) {
		return refuse(CodeLimit, "%s has used its %d iterations", t.ID, s.Config().IterationsFor(t)).on(t)
	}
	if KindOfClaim(t, op.Actor.ID).Fresh {
		return fullID("base_commit", p.BaseCommit)
	}
	if p.BaseCommit != "" {
		return invalid("%s keeps its worktree and its base commit", t.ID)
	}
	return nil
}

// mayClaim checks a claim against every rule except the iteration limit.
func mayClaim(s *State, t *Task, seen *Lease, op Operation) error {
	coder := op.Actor.ID
	if err := unpaused(t); err != nil {
		return err
	}
	if err := s.doesStage(t, coder); err != nil {
		return err
	}
	if t.ReservedFor != "" && t.ReservedFor != coder {
		return refuse(CodeReserved, "%s is reserved for %s", t.ID, t.ReservedFor).on(t)
	}
	if held := s.heldBy(coder); held != "" && held != t.ID {
		return refuse(CodeWrongState, "%s works on %s already", coder, held)
	}
	if held := s.reviewedBy(coder); held != "" {
		return refuse(CodeWrongState, "%s reviews %s already", coder, held)
	}
	if open := s.openDependencies(t); len(open) > 0 {
		return refuse(CodeDependency, "%s waits for %s", t.ID, all(open)).on(t)
	}
	switch {
	case t.Status == Claimed && !t.HandoffPending:
		if t.AssignedTo == coder && seen != nil && op.Time < seen.Expires {
			return refuse(CodeExists, "%s holds %s already, iteration %d", coder, t.ID, t.Iteration).on(t)
		}
		return lapsedClaim(s, t, seen, op)
	case t.Status == Rejected && t.AssignedTo != coder && !t.Freed && !s.busyElsewhere(t.Brief()):
		if err := lapsed(s, t.AssignedTo, seen, AbandonedAfter, op); err != nil {
			return refuse(CodeWrongState, "%s was rejected and goes back to its author %s, who is alive", t.ID, t.AssignedTo).on(t)
		}
	}
	return nil
}

func lapsedClaim(s *State, t *Task, seen *Lease, op Operation) error {
	err := lapsed(s, t.AssignedTo, seen, 0, op)
	if err == nil {
		return nil
	}
	return refuse(CodeWrongState, "%s is %s; a claim needs UNCLAIMED, or an expired lease", t.ID, t.describe()).on(t)
}

// busyElsewhere reports whether the author of a rejected task works on another task.
func (s *State) busyElsewhere(b Brief) bool {
	held := s.heldBy(b.AssignedTo)
	return held != "" && held != b.ID
}

func unpaused(t *Task) error {
	if !t.Paused {
		return nil
	}
	return refuse(CodeMode, "%s is paused by a human", t.ID).on(t)
}

// openDependencies lists what a task still waits for.
func (s *State) openDependencies(t *Task) []string {
	var open []string
	for _, id := range t.DependsOn {
		if !s.Merged(id) {
			open = append(open, id)
		}
	}
	return open
}

// Apply implements Payload.
func (p *Claim) Apply(s *State, op Operation) {
	t := s.editTask(p.Task)
	kind := KindOfClaim(t, op.Actor.ID)
	iteration := IterationAfterClaim(t, op.Actor.ID)
	if t.AssignedTo != op.Actor.ID {
		free(s, t.AssignedTo, t.ID, Idle)
	}
	if kind.Fresh {
		t.unclaim()
		t.BaseCommit = p.BaseCommit
		t.ReviewCyclesCurrent = 0
	}
	t.dropReview()
	t.AssignedTo, t.Clone, t.Worktree = op.Actor.ID, p.Clone, WorktreeOf(t.ID)
	t.Iteration = iteration
	t.IntegrationFix = kind.Fix || t.IntegrationFix && !kind.Fresh
	t.HandoffPending, t.Freed, t.ReservedFor = false, false, ""
	t.become(Claimed, op)
	e := t.event(op, kind.Event)
	e.Iteration, e.Base, e.Kept = t.Iteration, t.BaseCommit, p.Kept
	occupy(s, op.Actor.ID, t.ID, Working)
	if t.begins(len(t.History) - 1) {
		edit[Agent](s, RecordPath(AgentDir, op.Actor.ID)).IterationsTotal++
	}
}

// Subject implements Payload.
func (p *Claim) Subject(_, after *State, op Operation) (string, string) {
	t := after.Task(p.Task)
	how := map[string]string{
		EventReclaimed: ", rework after a rejection", EventReassignedAfterReject: ", taken over after a rejection",
		EventReclaimedAfterExpiry: ", after an expired lease", EventClaimedForFix: ", integration fix", EventResumed: ", continuing kept work",
	}
	return fmt.Sprintf("%s, iteration %d%s", op.Actor.ID, t.Iteration, how[t.History[len(t.History)-1].Event]), ""
}

// WorktreeOf is the path of a task's worktree, relative to the project's root.
func WorktreeOf(task string) string { return WorktreesDir + "/" + task }

// WorktreesDir is the directory of all tasks' worktrees, relative to the project's root. In a clone
// that has them outside, the project's path with this ending is.
const WorktreesDir = ".worktrees"

// NextClaim chooses the task that a coder should claim if it names none: its own rejected one, then
// a pending hand-off, then by the most urgent goal and by ClaimOrder. skip reports tasks not to choose because others
// take them, so they count as work under way; it may be nil. takeable reports whether the task can be taken from its
// holder now. It returns "" for none.
func NextClaim(s *State, coder string, skip func(id string) bool, takeable func(holder string, b Brief) bool) string {
	type candidate struct {
		Brief
		group, urgency int
		held           bool // takeable decides
	}
	var list []candidate
	var open, skipped []Brief
	urgency, team, role := s.urgencies(), s.Team(), roles.NameOf(coder)
	s.EachBrief(func(b Brief) {
		if !b.Status.Terminal() {
			open = append(open, b)
		}
		c := candidate{Brief: b, group: 3}
		switch {
		case skip != nil && skip(b.ID):
			if !b.underWay() {
				skipped = append(skipped, b)
			}
			return
		case !team.Does(role, b.InStage()):
			return
		case urgency[b.Goal] == 0 || b.Paused || b.ReservedFor != "" && b.ReservedFor != coder:
			return
		case b.Status == Rejected && b.AssignedTo == coder:
			c.group = 1
		case b.Status == Claimed && b.HandoffPending:
			c.group = 2
		case b.Status == Unclaimed, b.Status == IntegrationFailed:
		case b.Status == Claimed:
			c.held = true
		case b.Status == Rejected:
			c.held = !b.Freed && !s.busyElsewhere(b)
		default:
			return
		}
		c.urgency = urgency[b.Goal]
		list = append(list, c)
	})
	order := newClaimOrder(open)
	order.live = append(order.live, skipped...)
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.urgency, b.urgency), order.compare(a.Brief, b.Brief))
	})
	for _, c := range list {
		waits := func(id string) bool { return !s.Merged(id) }
		if !slices.ContainsFunc(c.DependsOn, waits) && (!c.held || takeable(c.AssignedTo, c.Brief)) {
			return c.ID
		}
	}
	return ""
}

// NextReview chooses what a reviewer should review if it names nothing: by the most urgent goal, by how
// many unfinished tasks wait for it, by priority, age and id; "" for none. It leaves a submission to
// another reviewer whom the review policy prefers, as long as that one is free.
func NextReview(s *State, reviewer string, skip func(id string) bool, takeable func(holder string, b Brief) bool) string {
	who := Actor{ID: reviewer, Role: roles.Human}
	if reviewer != roles.HumanID {
		who.Role, _ = s.RoleOf(reviewer)
	}
	urgency, all := s.urgencies(), s.Tasks()
	list := slices.DeleteFunc(slices.Clone(all), func(b Brief) bool {
		return b.Status != ReadyForReview || b.Paused || urgency[b.Goal] == 0 || skip != nil && skip(b.ID) ||
			b.ReviewingBy != "" && (b.ReviewingBy == roles.HumanID || !takeable(b.ReviewingBy, b))
	})
	if len(list) > 1 {
		order := newClaimOrder(all)
		slices.SortStableFunc(list, func(a, b Brief) int {
			return cmp.Or(cmp.Compare(urgency[a.Goal], urgency[b.Goal]), cmp.Compare(order.waiters(b.ID), order.waiters(a.ID)))
		})
	}
	for _, b := range list {
		if t := s.Task(b.ID); t != nil && mayReview(s, t, who) == nil && s.preferred(t, reviewer, takeable) == "" {
			return b.ID
		}
	}
	return ""
}
