package simulation

import (
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

const specOID = "5555555555555555555555555555555555555555"

// plan does a planner's next action.
func (a *player) plan() {
	s := a.s
	if s.chance(s.crash / 10 / s.planSize()) {
		a.crash("crashes while planning")
		return
	}
	if s.chance(s.hang / 10 / s.planSize()) {
		a.hang()
		a.soon(a.live)
		return
	}
	p := a.planning()
	if p == nil {
		a.poll(a.live)
		return
	}
	a.soon(func() {
		a.just(p, func(_ *gitboard.Done, err error) {
			if err != nil {
				a.poll(a.live) // it lost the race, or has to wait
				return
			}
			a.soon(a.live)
		})
	})
}

// duty is the next operation that a goal calls for, nil for none.
func (a *player) duty(state *board.State, g *board.Goal) board.Payload {
	s := a.s
	about := func(id string) board.About { return board.About{Task: id} }
	whole := true
	for _, id := range s.order {
		if s.goalOf[id] == g.ID && state.Task(id) == nil {
			if d := s.wants[id]; a.addable(state, d) {
				return &board.AddTask{About: about(id), Definition: *d, Goal: g.ID}
			}
			whole = false
		}
	}
	if len(g.AlignmentHistory) == 0 {
		return &board.AlignmentEntry{Goal: g.ID, Event: "planned", Summary: fmt.Sprintf("%d tasks", len(s.order))}
	}
	own := slices.DeleteFunc(drafts(state, false), func(id string) bool { return state.Task(id).Goal != g.ID })
	if len(own) > 0 {
		return &board.Finalize{About: about(own[0]), SpecOID: specOID}
	}
	if p := a.unblock(state, g); p != nil {
		return p
	}
	if p := a.records(state); p != nil {
		return p
	}
	for _, b := range state.TasksOf(g.ID) {
		switch {
		case b.Status == board.Rejected && !b.Freed && s.chance(20):
			return &board.Reassign{About: about(b.ID), Reason: "its author is slow"}
		case b.Status == board.IntegrationFailed && s.chance(10):
			return &board.Block{About: about(b.ID), Reason: "the merge needs a new plan", Questions: []string{"what now?"}}
		case b.Status == board.Unclaimed && b.ReservedFor != "" && state.Agent(b.ReservedFor) == nil && s.chance(50):
			return a.replace(state.Task(b.ID))
		}
	}
	if s.chance(50) {
		if p := a.sweep(); p != nil {
			return p
		}
	}
	tasks := state.TasksOf(g.ID)
	if whole && len(tasks) > 0 && !slices.ContainsFunc(tasks, func(b board.Brief) bool { return !b.Status.Terminal() }) {
		return &board.GoalComplete{Goal: g.ID, Summary: "all is done"}
	}
	return nil
}

// addable reports whether all dependencies of a task are on the board. Replacements are followed;
// work that an ended goal never added, and abandoned work, is done without.
func (a *player) addable(state *board.State, d *board.Definition) bool {
	var needs []string
	for _, id := range d.DependsOn {
		t := state.Task(id)
		switch {
		case t == nil && state.Runs(a.s.goalOf[id]):
			return false
		case t == nil:
		case t.Status == board.Superseded:
			needs = append(needs, t.SupersededBy...)
		case t.Status == board.Abandoned:
		default:
			needs = append(needs, id)
		}
	}
	slices.Sort(needs)
	d.DependsOn = slices.Compact(needs)
	return true
}

// unblock handles the first BLOCKED task.
func (a *player) unblock(state *board.State, g *board.Goal) board.Payload {
	s := a.s
	blocked := stuckIn(state, g, board.Blocked)
	if len(blocked) == 0 {
		return nil
	}
	id := blocked[0]
	t := state.Task(id)
	about := board.About{Task: id}
	exhausted := len(t.FailedBy) >= 2 && t.Last(board.EventAmended, board.EventBlocked).Event != board.EventAmended
	config, allowed := state.Config(), t.ExtraIterations+t.ExtraReviewCycles > 0
	switch {
	case allowed && (t.Iteration >= config.IterationsFor(t) || t.ReviewCyclesTotal >= config.ReviewCyclesFor(t)):
		return a.replace(t)
	case exhausted && s.chance(300) && s.extra < s.tasks/2+3, s.chance(40) && s.extra < s.tasks/2+3:
		return a.replace(t)
	case exhausted && s.chance(100) && len(dependents(state, id)) == 0:
		return &board.Abandon{About: about, Reason: "not worth it", Kept: string(s.commit("attic"))}
	case exhausted || s.chance(200):
		s.truth[id] /= 2
		return &board.AmendTask{
			About: about, Set: []string{"done_when"}, Reason: "it was framed wrong",
			Definition: board.Definition{DoneWhen: fmt.Sprintf("%s prints ok (%d)", id, s.eye.n)},
		}
	}
	p := &board.Unblock{About: about, Assessment: "go on"}
	switch {
	case s.chance(200):
		return &board.Answer{About: about, Text: "go on"}
	case t.Worktree == "":
	case s.chance(400):
		p.Mode, p.Kept = board.UnblockFresh, string(s.commit("attic"))
	case s.chance(500):
		if s.chance(300) {
			p.To = roles.Coder.ID(1 + s.rng.IntN(s.coders))
		}
	case s.mayGoOn(state, t):
		p.Mode = board.UnblockSameCoder
	}
	return p
}

// mayGoOn reports whether a task's coder exists and is free.
func (s *simulation) mayGoOn(state *board.State, t *board.Task) bool {
	if state.Agent(t.AssignedTo) == nil {
		return false
	}
	return !slices.ContainsFunc(state.Tasks(), func(b board.Brief) bool { return b.Holds(t.AssignedTo) })
}

func dependents(state *board.State, id string) []string {
	var ids []string
	for _, b := range state.Tasks() {
		if !b.Status.Terminal() && slices.Contains(b.DependsOn, id) {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// replace supersedes a task by one or two easier ones, which are added first.
func (a *player) replace(t *board.Task) board.Payload {
	s := a.s
	by := []string{t.ID + "-a"}
	if t.Priority%2 == 0 {
		by = append(by, t.ID+"-b")
	}
	for _, id := range by {
		if s.wants[id] == nil {
			s.extra++
			s.wantLike(t, id)
			s.truth[id] = s.truth[t.ID] / 2
		}
	}
	state := s.eye.state()
	for _, id := range by {
		switch r := state.Task(id); {
		case r == nil && !a.addable(state, s.wants[id]):
			return nil
		case r == nil:
			return &board.AddTask{About: board.About{Task: id}, Definition: *s.wants[id], Goal: t.Goal}
		case r.Status == board.Abandoned || r.Status == board.Superseded:
			return &board.Unblock{About: board.About{Task: t.ID}, Assessment: "its replacement is gone"}
		}
	}
	return &board.Supersede{About: board.About{Task: t.ID}, By: by, Reason: "It was too large.", Kept: string(s.commit("attic"))}
}

// records handles discoveries, anomalies, notes, deadlines and the circuit breaker.
func (a *player) records(state *board.State) board.Payload {
	s := a.s
	for _, id := range state.List(board.DiscoveryDir) {
		d := state.Discovery(id)
		if !d.Open() || d.Urgency != "immediate" {
			continue
		}
		task := "t-" + id
		switch {
		case s.wants[task] != nil && state.Task(task) != nil:
			return &board.ConvertDiscovery{Discovery: id, Task: task}
		case s.wants[task] == nil && s.extra < s.tasks/2+3 && s.chance(500):
			s.extra++
			s.want(task, nil)
			return nil // it will be planned at the next look
		case s.wants[task] == nil:
			return &board.SettleDiscovery{Discovery: id, How: "deferred", Reason: "later"}
		}
	}
	if sp := state.Sprint(); sp.Status == board.InProgress && !sp.Timeline.Deadline.IsZero() && board.At(s.now.Add(a.skew)) > sp.Timeline.Deadline {
		return &board.Deadline{}
	}
	if found := board.FindPatterns(state); len(found) > 0 && state.Breaker().Status == board.BreakerOK {
		return &board.Trip{Pattern: found[0].Pattern, Severity: found[0].Severity}
	}
	var ids []string
	for _, id := range state.List(board.AnomalyDir) {
		if n := state.Anomaly(id); n.AcknowledgedBy == "" {
			ids = append(ids, id)
		}
	}
	for _, id := range state.List(board.NoteDir) {
		if n := state.Note(id); n.AcknowledgedBy == "" && n.For != roles.HumanID {
			ids = append(ids, id)
		}
	}
	if len(ids) > 3 {
		return &board.Ack{IDs: ids}
	}
	return nil
}

// sweep releases the first claim whose lease has expired.
func (a *player) sweep() board.Payload {
	v := a.view()
	for _, b := range v.State.Tasks() {
		holder := ""
		switch {
		case b.Status == board.Claimed && !b.HandoffPending:
			holder = b.AssignedTo
		case b.Status == board.ReadyForReview:
			holder = b.ReviewingBy
		}
		if holder != "" && takeable(v)(holder, b) {
			return &board.Release{About: board.About{Task: b.ID}, Reason: "its lease had expired"}
		}
	}
	return nil
}
