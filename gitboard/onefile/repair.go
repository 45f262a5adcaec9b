package onefile

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// notRecorded is used where a record needs a text and the file has none.
const notRecorded = "not recorded"

// statusNames are states that some files have, and what they are here.
var statusNames = map[string]board.Status{
	"TODO": board.Unclaimed, "READY": board.Unclaimed, "OPEN": board.Unclaimed, "IN_PROGRESS": board.Claimed, "WORKING": board.Claimed,
	"IN_REVIEW": board.ReadyForReview, "REVIEW": board.ReadyForReview, "DONE": board.Merged, "CANCELLED": board.Abandoned,
}

// repair makes tasks and agents keep the board's invariants, and reports what it changed.
func (r *reader) repair() {
	for _, t := range r.tasks {
		r.repairFields(t)
	}
	for _, t := range r.tasks {
		r.repairLinks(t)
	}
	for _, t := range r.tasks {
		r.repairStatus(t)
	}
	r.repairDependencies()
	r.repairHolders()
	for _, t := range r.tasks {
		r.put(board.RecordPath(board.TaskDir, t.ID), t)
	}
	r.repairAgents()
}

var commitID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{4,64}$`) })

// repairFields completes what every task has.
func (r *reader) repairFields(t *board.Task) {
	where := "tasks." + t.ID
	t.Description = orOf(t.Description, t.ID)
	if status := board.Status(strings.ToUpper(string(t.Status))); status != t.Status || !status.Valid() {
		known, renamed := statusNames[string(status)]
		switch {
		case status.Valid():
			t.Status = status
		case renamed:
			r.add(where, 0, "the state %s is %s here", t.Status, known)
			t.Status = known
		case t.Status == "":
			t.Status = board.Draft
		default:
			r.add(where, 0, "%q is not a state of a task: BLOCKED", t.Status)
			t.BlockedReason = orOf(t.BlockedReason, "imported in the unknown state "+string(t.Status))
			t.Status = board.Blocked
		}
	}
	if t.Priority < 1 || t.Priority > 5 {
		r.addIf(t.Priority != 0, where, "the priority %d is not from 1 to 5: 3", t.Priority)
		t.Priority = 3
	}
	if !slices.Contains(board.Kinds, t.Kind) {
		r.addIf(t.Kind != "", where, "%q is not a kind of task: code", t.Kind)
		t.Kind = board.Code
	}
	r.repairHistory(t)
	t.CreatedBy = orOf(t.CreatedBy, t.History[0].Agent)
	t.StatusChangedAt = orOf(t.StatusChangedAt, t.History[len(t.History)-1].Time)
	if t.ReviewCommit != "" {
		t.ReviewBase = orOf(t.ReviewBase, t.BaseCommit) // older files have no field for it
	}
	r.repairEvents(t)
	commits := []*string{&t.BaseCommit, &t.ReviewCommit, &t.ReviewBase, &t.MergeCommit}
	for i := range t.History {
		commits = append(commits, &t.History[i].Commit, &t.History[i].Base)
	}
	for _, c := range commits {
		if id := strings.ToLower(strings.TrimSpace(*c)); commitID().MatchString(id) {
			*c = id
			r.out.commits = append(r.out.commits, c)
		} else if *c != "" {
			r.add(where, 0, "%q is not a commit's id: not kept", *c)
			*c = ""
		}
	}
	if wt := strings.TrimSuffix(strings.ReplaceAll(t.Worktree, `\`, "/"), "/"); path.IsAbs(wt) && path.Base(path.Dir(wt)) == ".worktrees" {
		t.Worktree = ".worktrees/" + path.Base(wt)
	} else {
		t.Worktree = wt
	}
	if t.Clone == "" && t.Worktree != "" {
		t.Clone = r.in.Clone
	}
}

// repairHistory gives each event a time, and every task a first one.
func (r *reader) repairHistory(t *board.Task) {
	before := orOf(t.Created, r.goal.Created)
	for i := range t.History {
		e := &t.History[i]
		e.Time, e.Agent, e.Event = orOf(e.Time, before), orOf(e.Agent, notRecorded), orOf(e.Event, notRecorded)
		before = e.Time
	}
	if len(t.History) == 0 {
		t.History = []board.Event{{Time: before, Event: board.EventCreated, Agent: orOf(t.CreatedBy, string(roles.Planner))}}
	}
	t.Created = orOf(t.Created, t.History[0].Time)
}

// repairEvents adds the events that the state of a task shows, where its history lacks them: of
// a submission, and of a merge that failed.
func (r *reader) repairEvents(t *board.Task) {
	last := t.History[len(t.History)-1].Time
	submitted := t.Status == board.ReadyForReview || t.Status == board.Approved || t.Status == board.IntegrationFailed
	if submitted && t.ReviewCommit != "" && t.Last(board.EventReady) == nil {
		at := slices.IndexFunc(t.History, func(e board.Event) bool {
			return e.Event == board.EventApproved || e.Event == board.EventIntegrationFailed
		})
		if at < 0 {
			at = len(t.History)
		}
		t.History = slices.Insert(t.History, at, board.Event{Time: t.History[max(at-1, 0)].Time, Event: board.EventReady,
			Agent: orOf(t.AssignedTo, notRecorded), Iteration: t.Iteration, Commit: t.ReviewCommit, Base: t.ReviewBase})
	}
	if t.Status == board.IntegrationFailed && t.Last(board.EventIntegrationFailed) == nil {
		r.add("tasks."+t.ID, 0, "%s, and no event says so: one is put in", t.Status)
		t.History = append(t.History, board.Event{Time: last, Event: board.EventIntegrationFailed, Agent: orOf(t.ApprovedBy, notRecorded), Reason: notRecorded})
	}
}

// repairLinks keeps links to tasks that there are, under the ids that they have now.
func (r *reader) repairLinks(t *board.Task) {
	for _, l := range []struct {
		name string
		ids  *[]string
	}{{"depends_on", &t.DependsOn}, {"supersedes", &t.Supersedes}, {"superseded_by", &t.SupersededBy}} {
		var kept []string
		for _, was := range *l.ids {
			id := r.taskNamed(was)
			switch {
			case r.by[id] == nil || id == t.ID:
				r.add("tasks."+t.ID+": "+l.name, 0, "there is no other task %s: not kept", was)
			case !slices.Contains(kept, id):
				kept = append(kept, id)
			}
		}
		*l.ids = kept
	}
	t.FailedBy = unique(t.FailedBy)
}

func unique(list []string) []string {
	var kept []string
	for _, s := range list {
		if !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// repairStatus sees that a task has what its state needs; otherwise it goes back to the last state
// that it has all of.
func (r *reader) repairStatus(t *board.Task) {
	where := "tasks." + t.ID
	back := func(to board.Status, why string) {
		r.add(where, 0, "%s, but %s: %s", t.Status, why, to)
		t.Status = to
	}
	need := func(name string, field *string, instead string) {
		if *field == "" {
			r.add(where, 0, "%s has no %s: %s", t.Status, name, instead)
			*field = instead
		}
	}
	if t.Status == board.Unclaimed && (t.DoneWhen == "" || t.SpecRef == "") {
		back(board.Draft, "it lacks done_when or spec_ref")
	}
	if t.Status == board.Approved && (t.ApprovedBy == "" || t.ApprovedBy == t.AssignedTo) {
		back(board.ReadyForReview, "nobody else approved it")
		t.ApprovedBy = ""
	}
	if t.Status == board.ReadyForReview && t.ReviewCommit == "" {
		back(board.Claimed, "it names no commit")
	}
	if t.Status == board.Claimed && (t.AssignedTo == "" || t.Worktree == "" || t.BaseCommit == "") {
		back(board.Unclaimed, "it lacks its coder, its worktree or the commit that it began at")
		t.AssignedTo, t.Worktree, t.Clone, t.BaseCommit, t.Iteration, t.HandoffPending = "", "", "", "", 0, false
	}
	if t.Status == board.Superseded && len(t.SupersededBy) == 0 {
		back(board.Abandoned, "nothing takes its place")
	}
	if t.Status == board.Draft && t.AssignedTo != "" {
		r.add(where, 0, "a DRAFT is nobody's, not %s's", t.AssignedTo)
		t.AssignedTo = ""
	}
	if t.IntegrationFix && t.Last(board.EventIntegrationFailed) == nil {
		r.add(where, 0, "integration_fix is not kept: no integration failed")
		t.IntegrationFix = false
	}
	switch t.Status {
	case board.Draft, board.Superseded, board.Abandoned:
	default:
		need("done_when", &t.DoneWhen, notRecorded)
		need("spec_ref", &t.SpecRef, orOf(r.goal.SpecRef, notRecorded))
	}
	switch t.Status {
	case board.Rejected:
		if t.Rejection == nil {
			r.add(where, 0, "%s has no rejection_reason: %s", t.Status, notRecorded)
			t.Rejection = &board.Rejection{Overall: notRecorded}
		}
	case board.Blocked:
		need("blocked_reason", &t.BlockedReason, notRecorded)
		e := t.Last(board.EventBlocked)
		if e != nil && len(t.BlockedQuestions) == 0 {
			if e.Agent == string(roles.System) || r.isCoder(e.Agent) {
				r.add(where, 0, "BLOCKED without questions: one is put in")
				t.BlockedQuestions = []string{"What would unblock it? (none was recorded)"}
			}
		}
	case board.Superseded:
		need("rescope_reason", &t.RescopeReason, notRecorded)
	case board.Merged:
		if t.MergeCommit == "" {
			instead := orOf(t.ReviewCommit, strings.Repeat("0", 40))
			r.add(where, 0, "MERGED has no merge_commit: %s", instead)
			t.MergeCommit = instead
			r.out.commits = append(r.out.commits, &t.MergeCommit)
		}
		r.addIf(t.Worktree != "", where, "a MERGED task has no worktree: %s is not kept as its own", t.Worktree)
		t.Worktree = ""
	}
}

// repairDependencies takes out dependencies that no task may have: on what was given up, on what a
// running task does not wait for, and in circles.
func (r *reader) repairDependencies() {
	for _, t := range r.tasks {
		if t.Status.Terminal() {
			continue
		}
		where := "tasks." + t.ID + ": depends_on"
		var kept []string
		open := slices.Clone(t.DependsOn)
		seen := map[string]bool{t.ID: true}
		for len(open) > 0 {
			id := open[0]
			open = open[1:]
			d := r.by[id]
			switch {
			case seen[id]:
			case d.Status == board.Superseded:
				r.add(where, 0, "%s is SUPERSEDED: %s instead", id, strings.Join(d.SupersededBy, ", "))
				open = append(slices.Clone(d.SupersededBy), open...)
			case d.Status == board.Abandoned:
				r.add(where, 0, "%s is ABANDONED: not kept", id)
			case t.Status == board.Claimed && d.Status != board.Merged:
				r.add(where, 0, "%s is CLAIMED though %s is %s: not kept", t.ID, id, d.Status)
			default:
				kept = append(kept, id)
			}
			seen[id] = true
		}
		t.DependsOn = kept
	}
	state := map[*board.Task]int{}
	var walk func(t *board.Task)
	walk = func(t *board.Task) {
		state[t] = 1
		t.DependsOn = slices.DeleteFunc(t.DependsOn, func(id string) bool {
			d := r.by[id]
			if state[d] == 0 && !d.Status.Terminal() {
				walk(d)
			}
			return state[d] == 1 && r.gone("tasks."+t.ID+": depends_on", "%s closes a circle: not kept", id)
		})
		if len(t.DependsOn) == 0 {
			t.DependsOn = nil
		}
		state[t] = 2
	}
	for _, t := range r.tasks {
		if state[t] == 0 && !t.Status.Terminal() {
			walk(t)
		}
	}
}

// repairHolders sees that nobody holds two tasks: the later one waits for its coder, with its
// worktree.
func (r *reader) repairHolders() {
	held := map[string]*board.Task{}
	for _, t := range r.tasks {
		if !t.Brief().Holds(t.AssignedTo) {
			continue
		}
		other := held[t.AssignedTo]
		if other == nil {
			held[t.AssignedTo] = t
			continue
		}
		if a := r.agents[t.AssignedTo]; a != nil && a.CurrentTask == t.ID {
			held[t.AssignedTo], t, other = t, other, t
		}
		r.add("tasks."+t.ID, 0, "%s holds %s, too: it waits for its coder, with its work", t.AssignedTo, other.ID)
		t.Status, t.AssignedTo = board.Unclaimed, ""
		if coder := other.AssignedTo; r.isCoder(coder) {
			t.ReservedFor = coder
		}
	}
}

func (r *reader) isCoder(id string) bool {
	role, err := r.team.RoleOf(id)
	return err == nil && role.Kind == board.CoderKind
}

// repairAgents lets agents work on what they hold.
func (r *reader) repairAgents() {
	for _, id := range slices.Sorted(maps.Keys(r.agents)) {
		a := r.agents[id]
		was := a.CurrentTask
		a.CurrentTask = r.taskNamed(was)
		t := r.by[a.CurrentTask]
		mine := t != nil && (t.AssignedTo == id && t.Status == board.Claimed || t.ReviewingBy == id && t.Status == board.ReadyForReview)
		if !mine && a.CurrentTask != "" {
			r.addIf(t == nil || a.Status == board.Working || a.Status == board.Reviewing, "agents."+id, "it does not work on %s: IDLE", was)
			if t == nil || a.Status == board.Working || a.Status == board.Reviewing {
				a.CurrentTask = ""
			}
		}
		if a.CurrentTask == "" {
			for _, t := range r.tasks {
				if t.Brief().Holds(id) {
					a.CurrentTask, a.Status = t.ID, board.Working
				}
			}
		}
		if a.CurrentTask == "" && (a.Status == board.Working || a.Status == board.Reviewing) {
			r.addIf(was == "", "agents."+id, "%s without a task: IDLE", a.Status)
			a.Status = board.Idle
		}
		if _, leased := r.out.Leases[id]; !leased && a.Status == board.Working {
			r.add("agents."+id, 0, "it works and has no lease: it gets an expired one")
			r.lease(id, a.CurrentTask, r.now, r.now)
		}
		if l, leased := r.out.Leases[id]; leased {
			l.Task = a.CurrentTask
			r.out.Leases[id] = l
		}
		r.put(board.RecordPath(board.AgentDir, id), a)
	}
}
