package report

import (
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// forecast finds out what tasks wait for.
type forecast struct {
	s       *board.State
	now     board.Time
	leases  map[string]board.Lease // nil if unknown
	planner planners
	goals   map[string]GoalOutlook
	by      map[string]*board.Brief
	seen    map[string]Obstacle // the tasks examined so far, and why they are stuck
}

// reviewsPlan is the role that judges proposed drafts.
func (f *forecast) reviewsPlan(goal string) roles.Role {
	switch f.s.Team().PlanReviewer() {
	case "":
		who, _ := f.planner.of(goal, PlanRejected)
		return who
	case roles.HumanID:
		return roles.Human
	}
	return roles.CodeReviewer
}

// reviews is the role that reviews a task's submissions.
func (f *forecast) reviews(b board.Brief) roles.Role {
	if board.ReviewedByHumans(f.s, b.InStage()) {
		return roles.Human
	}
	return roles.CodeReviewer
}

// gone reports whether an agent has deregistered or its lease has expired. It is false for no
// agent.
func (f *forecast) gone(agent string) bool {
	return agent != "" && agent != roles.HumanID && f.leases != nil && (f.s.Agent(agent) == nil || f.leases[agent].Expires <= f.now)
}

func (f *forecast) outlook(b board.Brief) TaskOutlook {
	t := TaskOutlook{Brief: b, Worker: Worker(b)}
	t.Stage = StageOf(f.s, b)
	if b.Status.Terminal() {
		return t
	}
	t.AfterGoal = f.goals[b.Goal].WaitsFor
	reviewed := b.Status == board.ReadyForReview && b.ReviewingBy != ""
	if b.Status == board.Claimed || reviewed {
		t.LeaseExpires = f.leases[t.Worker].Expires
	}
	if b.Status == board.Unclaimed {
		t.WaitsFor = f.unmerged(b)
	}
	t.Stuck = f.stuck(b)
	switch {
	case b.Paused, t.Stuck.Kind == WaitsEnded, t.Stuck.Kind == WaitsLater:
		t.Turn = roles.Human
	case b.Plan == board.PlanProposed:
		t.Turn = f.reviewsPlan(b.Goal)
	case b.Status == board.Draft:
		t.Turn, t.Left = f.planner.of(b.Goal, InitialPlanning, PlanRejected)
	case b.Status == board.Blocked:
		t.Turn, t.Left = f.planner.of(b.Goal, BlockedTasks, HypothesisExhausted)
	case t.Stuck.Kind == ReservedGone:
		t.Turn, t.Left = f.planner.of(b.Goal, StaleReservation)
	case b.Status == board.Unclaimed && len(t.WaitsFor) == 0, b.Status == board.Rejected, b.Status == board.IntegrationFailed:
		t.Turn = roles.Coder
	case b.Status == board.Claimed && (b.HandoffPending || f.gone(b.AssignedTo)):
		t.Turn = roles.Coder
	case b.Status == board.ReadyForReview && reviewed && b.ReviewingBy == roles.HumanID:
		t.Turn = roles.Human
	case b.Status == board.ReadyForReview && (!reviewed || f.gone(b.ReviewingBy)):
		t.Turn = f.reviews(b)
	case b.Status == board.Approved:
		t.Turn = roles.CodeReviewer
	}
	if task := f.s.Task(b.ID); b.Status == board.ReadyForReview && task != nil {
		progress := board.ProgressOf(f.s, task)
		t.Review = progress.String()
		if t.Turn == f.reviews(b) && progress.OnlyHuman() {
			t.Turn = roles.Human
		}
	}
	if t.Stuck.Kind == GoalSpent || t.AfterGoal != "" && takesOn(t) {
		t.Turn = ""
	}
	return t
}

// takesOn reports whether what a task waits for is that somebody takes it on, or lands it: as long
// as its goal waits for another one, nobody may.
func takesOn(t TaskOutlook) bool {
	switch {
	case t.Paused: // a human resumes it at any time
		return false
	case t.Status == board.ReadyForReview:
		return t.ReviewingBy != roles.HumanID // a human's review, once begun, may end
	case t.Status == board.Approved:
		return true
	}
	return t.Turn == roles.Coder
}

// Obstacle is why a task is stuck; its zero value means that it is not.
type Obstacle struct {
	Kind ObstacleKind
	Task string // the dependency, if Kind is Waits, WaitsEnded or WaitsLater
	Goal string // of the dependency, and its fault, if Kind is WaitsEnded or WaitsLater
	Left bool   // the agent deregistered; otherwise its lease expired
}

// absent describes an absent agent.
func absent(left bool) string {
	if left {
		return "gone"
	}
	return "silent"
}

// ObstacleKind is a kind of obstacle.
type ObstacleKind int

// The kinds of obstacles.
const (
	NoObstacle ObstacleKind = iota
	TaskPaused
	TaskExhausted // two attempts failed
	TaskBlocked
	CoderGone
	ReviewerGone
	ReservedGone // kept for an absent coder
	Waits        // for a task that is itself stuck
	WaitsEnded   // for a task of an ended goal
	WaitsLater   // for a task of a goal that comes after its own
	GoalSpent    // its goal has used up its budget
)

// String describes the obstacle, "" for none.
func (o Obstacle) String() string {
	switch o.Kind {
	case TaskPaused:
		return "paused"
	case TaskExhausted:
		return "two attempts at it failed"
	case TaskBlocked:
		return "blocked"
	case CoderGone:
		return "its coder is " + absent(o.Left)
	case ReviewerGone:
		return "its reviewer is " + absent(o.Left)
	case ReservedGone:
		return "reserved for a coder that is " + absent(o.Left)
	case Waits:
		return "waits for " + o.Task
	case WaitsEnded, WaitsLater:
		return "waits for " + o.Task + " of " + o.Goal
	case GoalSpent:
		return "its goal has used up its budget of tokens"
	}
	return ""
}

// MarshalText encodes the obstacle for JSON, as String.
func (o Obstacle) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// IsStuck reports whether the task is stuck.
func (t TaskOutlook) IsStuck() bool { return t.Stuck.Kind != NoObstacle }

// stuck finds out why a task is stuck.
func (f *forecast) stuck(b board.Brief) Obstacle {
	why, asked := f.seen[b.ID]
	if !asked {
		f.seen[b.ID] = Obstacle{} // ends a cycle in a damaged board
		why = f.because(b)
		f.seen[b.ID] = why
	}
	return why
}

func (f *forecast) because(b board.Brief) Obstacle {
	switch {
	case b.Paused:
		return Obstacle{Kind: TaskPaused}
	case b.Status == board.Blocked && b.Failures >= 2:
		return Obstacle{Kind: TaskExhausted}
	case b.Status == board.Blocked:
		return Obstacle{Kind: TaskBlocked}
	case b.Status == board.Claimed && !b.HandoffPending && f.gone(b.AssignedTo), b.Status == board.Rejected && !b.Freed && f.gone(b.AssignedTo):
		return Obstacle{Kind: CoderGone, Left: f.s.Agent(b.AssignedTo) == nil}
	case b.Status == board.ReadyForReview && b.ReviewingBy != "" && f.gone(b.ReviewingBy):
		return Obstacle{Kind: ReviewerGone, Left: f.s.Agent(b.ReviewingBy) == nil}
	case f.goals[b.Goal].worked() && f.goals[b.Goal].Spent != nil && startable(b):
		return Obstacle{Kind: GoalSpent}
	case b.Status == board.Unclaimed && b.ReservedFor != "" && f.gone(b.ReservedFor):
		return Obstacle{Kind: ReservedGone, Left: f.s.Agent(b.ReservedFor) == nil}
	case b.Status == board.Unclaimed:
		return f.waits(b)
	}
	return Obstacle{}
}

// startable reports whether the next thing for a task is that somebody's run begins.
func startable(b board.Brief) bool {
	return b.Status == board.Unclaimed || b.Status == board.Rejected || b.Status == board.IntegrationFailed || b.Status == board.ReadyForReview && b.ReviewingBy == ""
}

// waits is the obstacle of a task whose dependencies won't be merged by themselves.
func (f *forecast) waits(b board.Brief) Obstacle {
	if id, g := WaitsForEnded(f.s, b); g != nil {
		return endedGoal(id, g)
	}
	if id, g := WaitsForLater(f.s, b); g != nil {
		return laterGoal(id, g, b.Goal)
	}
	for _, id := range f.unmerged(b) {
		if d := f.by[id]; d == nil || f.stuck(*d).Kind != NoObstacle {
			return Obstacle{Kind: Waits, Task: id}
		}
	}
	return Obstacle{}
}

func endedGoal(needed string, g *board.Goal) Obstacle {
	return Obstacle{Kind: WaitsEnded, Task: needed, Goal: g.ID + ", which is " + string(g.Status)}
}

func laterGoal(needed string, g *board.Goal, own string) Obstacle {
	return Obstacle{Kind: WaitsLater, Task: needed, Goal: g.ID + ", which comes after " + own}
}

// unmerged lists the dependencies that a task waits for.
func (f *forecast) unmerged(b board.Brief) []string {
	var ids []string
	for _, id := range b.DependsOn {
		if d := f.by[id]; d == nil && !f.s.Merged(id) || d != nil && d.Status != board.Merged {
			ids = append(ids, id)
		}
	}
	return ids
}

// Worker is who holds a task, or held it last.
func Worker(b board.Brief) string {
	switch {
	case b.Status == board.ReadyForReview && b.ReviewingBy != "":
		return b.ReviewingBy
	case b.Status == board.Approved:
		return b.ApprovedBy
	}
	return b.AssignedTo
}
