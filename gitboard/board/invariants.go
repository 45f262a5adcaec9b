package board

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// Violation is a record's breach of an invariant.
type Violation struct {
	Record string // the record's path
	Field  string
	What   string
}

func (v Violation) String() string { return fmt.Sprintf("%s: %s: %s", v.Record, v.Field, v.What) }

// Violations checks the whole board against the invariants, and returns violations by path.
func Violations(s *State) []Violation {
	var all []Violation
	for _, dir := range []string{AgentDir, GoalDir, AnomalyDir, DiscoveryDir, HandoffDir, KeyDir} {
		for _, id := range s.List(dir) {
			all = append(all, recordViolations(s, nil, RecordPath(dir, id))...)
		}
	}
	for _, path := range []string{ConfigPath, SprintPath, ControlPath, BreakerPath, TeamPath} {
		all = append(all, recordViolations(s, nil, path)...)
	}
	clean := map[string]bool{}
	for _, id := range s.List(TaskDir) {
		path := RecordPath(TaskDir, id)
		all = append(all, recordViolations(s, nil, path)...)
		all = append(all, cycleViolation(s, path, clean)...)
	}
	return append(all, doubleHolders(s)...)
}

// checkNewViolations refuses an operation if the records it changes break an invariant that they
// did not break before. An old violation elsewhere does not stop work.
func checkNewViolations(before, after *State) error {
	var fresh []Violation
	holders := false
	for path, r := range after.Changes() {
		if r == nil {
			continue
		}
		fresh = append(fresh, newOnes(recordViolations(after, before, path), func() []Violation { return recordViolations(before, nil, path) })...)
		t, is := r.(*Task)
		holders = holders || is && t.Status == Claimed
		if is && mayClose(before, after, t) {
			fresh = append(fresh, newOnes(cycleViolation(after, path, nil), func() []Violation { return cycleViolation(before, path, nil) })...)
		}
	}
	if holders {
		fresh = append(fresh, newOnes(doubleHolders(after), func() []Violation { return doubleHolders(before) })...)
	}
	if len(fresh) == 0 {
		return nil
	}
	slices.SortFunc(fresh, func(a, b Violation) int { return strings.Compare(a.String(), b.String()) })
	return refuse(CodeInvariant, "this would leave the board inconsistent: %s", fresh[0])
}

// newOnes returns the violations that did not exist before.
func newOnes(now []Violation, before func() []Violation) []Violation {
	if len(now) == 0 {
		return nil
	}
	was := before()
	return slices.DeleteFunc(now, func(v Violation) bool { return slices.Contains(was, v) })
}

// doubleHolders finds agents that work on two tasks.
func doubleHolders(s *State) []Violation {
	held, twice := map[string]string{}, false
	s.EachBrief(func(b Brief) {
		if b.Holds(b.AssignedTo) {
			twice = twice || held[b.AssignedTo] != ""
			held[b.AssignedTo] = b.ID
		}
	})
	if !twice {
		return nil
	}
	var all []Violation
	clear(held)
	for _, b := range s.Tasks() {
		if !b.Holds(b.AssignedTo) {
			continue
		}
		if other := held[b.AssignedTo]; other != "" {
			all = append(all, Violation{RecordPath(TaskDir, b.ID), "assigned_to", fmt.Sprintf("%s holds %s already", b.AssignedTo, other)})
		}
		held[b.AssignedTo] = b.ID
	}
	return all
}

// recordViolations returns the violations of a record. Those that it had on a board before, if
// there is one, may be left out.
func recordViolations(s, before *State, path string) []Violation {
	r, err := s.Record(path)
	if err != nil || r == nil {
		return nil
	}
	var all []Violation
	bad := func(field, what string, args ...any) {
		all = append(all, Violation{path, field, fmt.Sprintf(what, args...)})
	}
	switch r := r.(type) {
	case *Task:
		if _, archived, _ := TaskPath(path); !archived { // archived tasks stay as they ended
			taskInvariants(s, r, bad)
		}
	case *Agent:
		agentInvariants(r, bad)
	case *Sprint:
		sprintInvariants(s, before, r, bad)
	case *Goal:
		goalInvariants(s, path, r, bad)
	case *Control:
		if modes := []Mode{Running, Paused, CheckpointMode, Aborted}; !slices.Contains(modes, r.Mode) {
			bad("mode", "%q is not a mode: use %s", r.Mode, list(modes))
		}
	case *Breaker:
		if r.Status != BreakerOK && r.Status != BreakerTriggered || (r.Status == BreakerTriggered) != (r.CurrentTrigger != nil) {
			bad("status", "%q does not fit its trigger", r.Status)
		}
	case *Anomaly:
		if err := anomalyFault(r.Type, r.Details); err != nil {
			bad("details", "%v", err)
		}
		ofGoal(s, r.Goal, bad)
	case *Config:
		for _, k := range ConfigKeys {
			if err := k.Check(r); err != nil {
				bad(k.Name, "%v", err)
			}
		}
	case *Team:
		if f := r.Fault(); f != nil {
			bad(f.Where, "%s", f.What)
		}
	case *Key:
		if principal(r.Principal) != nil || RecordPath(KeyDir, KeyID(r.Public)) != path {
			bad("public", "not the key of this name, or nobody's")
		}
	case *Handoff:
		if phrase("summary", r.Summary) != nil || phrase("next_action", r.NextAction) != nil {
			bad("summary", "a hand-off needs both phrases")
		}
	case *Discovery:
		if !slices.Contains(Severities, r.Severity) {
			bad("severity", "%q is not a severity: use %s", r.Severity, list(Severities))
		}
		if !slices.Contains(Urgencies, r.Urgency) {
			bad("urgency", "%q is not an urgency: use %s", r.Urgency, list(Urgencies))
		}
		ofGoal(s, r.Goal, bad)
	case *SpecChange:
		ofGoal(s, r.Goal, bad)
	case *Note:
		ofGoal(s, r.Goal, bad)
	}
	return all
}

// ofGoal reports the goal of a record if it does not exist.
func ofGoal(s *State, goal string, bad func(string, string, ...any)) {
	if goal != "" && s.Goal(goal) == nil && s.Err() == nil {
		bad("goal", "there is no goal %s", quote(goal))
	}
}

func agentInvariants(a *Agent, bad func(string, string, ...any)) {
	if !slices.Contains(AgentStatuses, a.Status) {
		bad("status", "%q is not a state of an agent: use %s", a.Status, list(AgentStatuses))
	}
	if a.Status == Working && a.CurrentTask == "" {
		bad("current_task", "WORKING without a task")
	}
	if !slices.Contains(roles.Agents, a.Role) {
		bad("role", "%q is not an agent's role", a.Role)
	}
}

func sprintInvariants(s, before *State, sp *Sprint, bad func(string, string, ...any)) {
	if phases := []Phase{InProgress, AtCheckpoint, Completed, PhaseAborted}; !slices.Contains(phases, sp.Status) {
		bad("status", "%q is not a state of a sprint: use %s", sp.Status, list(phases))
	}
	if sp.Timeline.Started.IsZero() {
		bad("timeline.started", "not set")
	}
	var had SprintScope
	if before != nil {
		if was, _ := before.Record(SprintPath); was != nil {
			had = was.(*Sprint).Scope
		}
	}
	for _, id := range slices.Concat(added(had.Planned, sp.Scope.Planned), added(had.Stretch, sp.Scope.Stretch)) {
		if _, there := s.BriefOf(id); !there && s.Err() == nil {
			bad("scope", "there is no task %s", id)
		}
	}
}

// added returns what a list has behind its first entries, as far as these are those of another
// one. A sprint may have thousands of tasks, and get them one at a time.
func added(before, list []string) []string {
	n := 0
	for n < min(len(before), len(list)) && before[n] == list[n] {
		n++
	}
	return list[n:]
}

func taskInvariants(s *State, t *Task, bad func(string, string, ...any)) {
	needs := func(field, value string) {
		if value == "" {
			bad(field, "missing in %s", t.Status)
		}
	}
	if !t.Status.Valid() {
		bad("status", "%q is not a state of a task: use %s", t.Status, list(Statuses))
		return
	}
	if s.Goal(t.Goal) == nil && s.Err() == nil {
		bad("goal", "there is no goal %s", quote(t.Goal))
	}
	if !t.Status.Terminal() && s.Team().Stage(t.InStage()) == nil {
		bad("stage", "%s is not a stage of this team", quote(t.InStage()))
	}
	if !slices.Contains(Kinds, t.Kind) {
		bad("kind", "%q is not a kind of task: use %s", t.Kind, list(Kinds))
	}
	if !isPriority(t.Priority) {
		bad("priority", "%d is not from 1 to 5", t.Priority)
	}
	if t.Plan != "" && (t.Status != Draft || t.Plan != PlanProposed && t.Plan != PlanRejected) {
		bad("plan", "%s is not how far the review of a %s task is", quote(string(t.Plan)), t.Status)
	}
	switch t.Status {
	case Draft, Superseded, Abandoned:
	default:
		needs("done_when", t.DoneWhen)
		needs("spec_ref", t.SpecRef)
	}
	statusInvariants(s, t, needs, bad)
	if t.IntegrationFix && t.Last(EventIntegrationFailed) == nil {
		bad("integration_fix", "set though no integration failed")
	}
	if !t.Status.Terminal() {
		dependencyInvariants(s, t, bad)
	}
}

// statusInvariants checks what belongs to the task's state.
func statusInvariants(s *State, t *Task, needs func(string, string), bad func(string, string, ...any)) {
	switch t.Status {
	case Draft:
		if t.AssignedTo != "" {
			bad("assigned_to", "a DRAFT is nobody's, not %s's", t.AssignedTo)
		}
	case Claimed:
		needs("assigned_to", t.AssignedTo)
		needs("worktree", t.Worktree)
		needs("base_commit", t.BaseCommit)
		for _, id := range t.DependsOn {
			if d := s.Task(id); d == nil || d.Status != Merged {
				bad("depends_on", "%s is not MERGED", id)
			}
		}
	case ReadyForReview:
		needs("review_commit", t.ReviewCommit)
		approvalInvariants(t, bad)
	case Approved:
		needs("approved_by", t.ApprovedBy)
		if t.ApprovedBy == t.AssignedTo {
			bad("approved_by", "%s approved its own work", t.ApprovedBy)
		}
		approvalInvariants(t, bad)
	case Rejected:
		if t.Rejection == nil {
			bad("rejection_reason", "missing in REJECTED")
		}
	case Blocked:
		needs("blocked_reason", t.BlockedReason)
		if e := t.Last(EventBlocked); e != nil && len(t.BlockedQuestions) == 0 && (s.isCoder(e.Agent) || e.Agent == string(roles.System)) {
			bad("blocked_questions", "missing though a coder or the system blocked it")
		}
	case Superseded:
		needs("rescope_reason", t.RescopeReason)
		if len(t.SupersededBy) == 0 {
			bad("superseded_by", "missing in SUPERSEDED")
		}
	case Merged:
		needs("merge_commit", t.MergeCommit)
		if t.Worktree != "" {
			bad("worktree", "a MERGED task has none")
		}
	}
}

// approvalInvariants checks that different reviewers approved, and that they did not work on the
// task.
func approvalInvariants(t *Task, bad func(string, string, ...any)) {
	for i, a := range t.Approvals {
		if slices.Contains(t.Workers(), a.By) {
			bad("approvals", "%s approved its own work", a.By)
		}
		if slices.ContainsFunc(t.Approvals[:i], a.sameReviewer) {
			bad("approvals", "%s appears twice", a.Author())
		}
	}
}

func dependencyInvariants(s *State, t *Task, bad func(string, string, ...any)) {
	for _, id := range t.DependsOn {
		switch d := s.Task(id); {
		case d == nil:
			bad("depends_on", "there is no task %s", id)
		case d.Status == Abandoned || d.Status == Superseded:
			bad("depends_on", "%s is %s", id, d.Status)
		}
	}
}

// mayClose reports whether a change of a task may have closed a dependency cycle: the task's
// dependencies changed, and some task depends on it. Only tasks changed by the same operation can
// depend on a new task.
func mayClose(before, after *State, t *Task) bool {
	was := before.Task(t.ID)
	switch {
	case len(t.DependsOn) == 0 || was != nil && slices.Equal(was.DependsOn, t.DependsOn):
		return false
	case was != nil:
		return len(after.dependents(t.ID)) > 0
	}
	for _, r := range after.Changes() {
		if other, is := r.(*Task); is && slices.Contains(other.DependsOn, t.ID) {
			return true
		}
	}
	return false
}

// cycleViolation returns the violation of a task that depends on itself through others. clean are the
// tasks known to lead to no cycle; it may be nil.
func cycleViolation(s *State, path string, clean map[string]bool) []Violation {
	r, _ := s.Record(path)
	t, is := r.(*Task)
	if !is || t.Status.Terminal() {
		return nil
	}
	loop := s.cycle(t.ID, clean)
	if loop == nil {
		return nil
	}
	return []Violation{{path, "depends_on", "dependency cycle: " + strings.Join(loop, " -> ")}}
}

// cycle finds a path along depends_on from a task back to itself, nil for none.
func (s *State) cycle(start string, clean map[string]bool) []string {
	seen := map[string]bool{}
	var way []string
	loops := false // also through others alone
	var walk func(id string) bool
	walk = func(id string) bool {
		if clean[id] {
			return false
		}
		b, known := s.BriefOf(id)
		if !known || b.Status.Terminal() {
			return false
		}
		if seen[id] {
			loops = loops || slices.Contains(way, id)
			return false
		}
		seen[id] = true
		way = append(way, id)
		for _, d := range b.DependsOn {
			if d == start || walk(d) {
				return true
			}
		}
		way = way[:len(way)-1]
		return false
	}
	if walk(start) {
		return append(way, start)
	}
	if clean != nil && !loops {
		maps.Copy(clean, seen)
	}
	return nil
}
