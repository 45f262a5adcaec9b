package onefile

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// notRecorded is used where a record needs a text that older files did not have.
const notRecorded = "not recorded"

var commitID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{4,64}$`) })

// completeTasks gives tasks the fields that older files did not have.
func (r *reader) completeTasks() {
	for _, t := range r.tasks {
		n := r.sources[board.RecordPath(board.TaskDir, t.ID)].node
		r.completeTask(t)
		r.completeEvents(t)
		r.commits(t, n)
		r.existing(t, n)
	}
}

func (r *reader) completeTask(t *board.Task) {
	where := "tasks." + t.ID
	t.Description = cmp.Or(t.Description, t.ID)
	t.Status = board.Status(strings.ToUpper(string(t.Status)))
	t.Priority, t.Kind = cmp.Or(t.Priority, 3), cmp.Or(t.Kind, board.Code)
	if len(t.History) == 0 {
		t.History = []board.Event{{Time: cmp.Or(t.Created, r.goal.Created), Event: board.EventCreated, Agent: cmp.Or(t.CreatedBy, string(roles.Planner))}}
	}
	t.Created = cmp.Or(t.Created, t.History[0].Time)
	t.CreatedBy = cmp.Or(t.CreatedBy, t.History[0].Agent)
	t.StatusChangedAt = cmp.Or(t.StatusChangedAt, t.History[len(t.History)-1].Time)
	if t.ReviewCommit != "" {
		t.ReviewBase = cmp.Or(t.ReviewBase, t.BaseCommit)
	}
	t.Worktree = strings.TrimSuffix(strings.ReplaceAll(t.Worktree, `\`, "/"), "/")
	if path.IsAbs(t.Worktree) && path.Base(path.Dir(t.Worktree)) == board.WorktreesDir {
		t.Worktree = board.WorktreeOf(path.Base(t.Worktree))
	}
	if t.Clone == "" && t.Worktree != "" {
		t.Clone = r.in.Clone
	}
	if t.Status == board.Merged && t.Worktree != "" {
		r.add(where, 0, "a MERGED task has no worktree: %s is not kept as its own", t.Worktree)
		t.Worktree = ""
	}
}

// completeEvents adds the events that the state of a task shows, where its history lacks them: of a
// submission, and of a merge that failed.
func (r *reader) completeEvents(t *board.Task) {
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
			Agent: cmp.Or(t.AssignedTo, notRecorded), Iteration: t.Iteration, Commit: t.ReviewCommit, Base: t.ReviewBase})
	}
	if t.Status == board.IntegrationFailed && t.Last(board.EventIntegrationFailed) == nil {
		r.add("tasks."+t.ID, 0, "%s, and no event says so: one is put in", t.Status)
		t.History = append(t.History, board.Event{Time: last, Event: board.EventIntegrationFailed, Agent: cmp.Or(t.ApprovedBy, notRecorded), Reason: notRecorded})
	}
}

// commits notes the commits that a task names, which may be short.
func (r *reader) commits(t *board.Task, n *yaml.Node) {
	named := []*string{&t.BaseCommit, &t.ReviewCommit, &t.ReviewBase, &t.MergeCommit}
	for i := range t.History {
		named = append(named, &t.History[i].Commit, &t.History[i].Base)
	}
	for _, c := range named {
		if *c = strings.ToLower(strings.TrimSpace(*c)); commitID().MatchString(*c) {
			r.out.commits = append(r.out.commits, c)
		} else if *c != "" {
			r.fault("tasks."+t.ID, n.Line, "%q is not a commit's id: 4 to 64 of the characters 0-9a-f are needed", *c)
		}
	}
}

// existing checks the links of a task that the board's invariants do not.
func (r *reader) existing(t *board.Task, n *yaml.Node) {
	for _, id := range slices.Concat(t.Supersedes, t.SupersededBy) {
		if r.by[id] == nil {
			r.fault("tasks."+t.ID, n.Line, "there is no task %s to supersede", id)
		}
	}
}

// completeAgents gives agents the tasks that they hold, and a lease to each that works.
func (r *reader) completeAgents() {
	for id, a := range r.agents {
		from := r.sources[board.RecordPath(board.AgentDir, id)]
		works := a.Status == board.Working || a.Status == board.Reviewing
		if t := r.by[a.CurrentTask]; a.CurrentTask != "" && t == nil {
			r.fault(from.where+": current_task", from.node.Line, "there is no task %s", a.CurrentTask)
		} else if works && (t == nil || t.AssignedTo != id && t.ReviewingBy != id || t.Status != board.Claimed && t.Status != board.ReadyForReview) {
			r.fault(from.where+": current_task", from.node.Line, "%s without a task: name a task that it has claimed or reviews, or set the status to IDLE", a.Status)
		}
		for _, t := range r.tasks {
			if a.CurrentTask == "" && t.Brief().Holds(id) {
				a.CurrentTask, a.Status = t.ID, board.Working
			}
		}
		if _, leased := r.out.Leases[id]; !leased && a.Status == board.Working {
			r.add(from.where, 0, "it works and has no lease: it gets an expired one")
			r.lease(id, a.CurrentTask, r.now, r.now)
		}
		if l, leased := r.out.Leases[id]; leased {
			l.Task = a.CurrentTask
			r.out.Leases[id] = l
		}
	}
}
