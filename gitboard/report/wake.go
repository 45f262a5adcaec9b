package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// WakeTrigger is a reason to start a planner (protocol: the planner's wake-up), or a reviewer of
// plans.
type WakeTrigger string

// The triggers, in order of precedence.
const (
	InitialPlanning     WakeTrigger = "INITIAL_PLANNING"
	BlockedTasks        WakeTrigger = "BLOCKED_TASKS"
	IntegrationFailures WakeTrigger = "INTEGRATION_FAILED"
	HypothesisExhausted WakeTrigger = "HYPOTHESIS_EXHAUSTED"
	ImmediateDiscovery  WakeTrigger = "IMMEDIATE_DISCOVERY"
	StaleReservation    WakeTrigger = "STALE_RESERVATION"
	Replan              WakeTrigger = "REPLAN"
	PlanRejected        WakeTrigger = "PLAN_REJECTED"
	PRFeedback          WakeTrigger = "PR_FEEDBACK"
	AllTerminal         WakeTrigger = "ALL_TERMINAL"
)

// PlanReview is why an agent that reviews plans is started: drafts are proposed.
const PlanReview WakeTrigger = "PLAN_REVIEW"

// Triggers lists the triggers in order of precedence.
var Triggers = []WakeTrigger{InitialPlanning, Replan, PlanRejected, BlockedTasks, IntegrationFailures, HypothesisExhausted, ImmediateDiscovery, StaleReservation, PRFeedback, AllTerminal}

// Wake is a trigger of a goal that holds now.
type Wake struct {
	Goal    string
	Trigger WakeTrigger
	About   []string // the tasks or discoveries, in the order to deal with them
	// Mark stays the same while the trigger is unchanged: a planner that has seen it and has not acted
	// is not woken by it again.
	Mark string
}

// Key names the trigger of the goal, for what was handled.
func (w Wake) Key() string { return w.Goal + " " + string(w.Trigger) }

// planners tells who has to plan: a planner, or the human if there is none or if it has looked at
// what it was woken for and left it, so that it is not woken again.
type planners struct {
	s       *board.State
	present roles.Role        // the human if there is no planner
	handled map[string]string // see Outside
	wakes   map[string][]Wake // by goal
}

// settled are the triggers that a human has to deal with once a planner has left them.
var settled = []WakeTrigger{InitialPlanning, PlanRejected, BlockedTasks, HypothesisExhausted, ImmediateDiscovery, StaleReservation}

// waitsForHuman begins the reason of a planner that waits for a human; the triggers follow.
const waitsForHuman = "a human, for "

// LeftToHuman is the reason why a planner waits, as its record shows it to other clones, if it has seen
// triggers and left them to a human; "" otherwise.
func LeftToHuman(open []Wake, seen map[string]string) string {
	var left []string
	for _, w := range open {
		if slices.Contains(settled, w.Trigger) && seen[w.Key()] == w.Mark {
			left = append(left, string(w.Trigger))
		}
	}
	if left == nil {
		return ""
	}
	return waitsForHuman + strings.Join(left, ", ")
}

// of returns who deals with what some triggers of a goal are about.
func (p planners) of(goal string, triggers ...WakeTrigger) (who roles.Role, left bool) {
	if p.present == roles.Human {
		return p.present, false
	}
	if by := p.s.Agent(p.s.PlannerOf(goal)); by != nil && slices.ContainsFunc(triggers, func(t WakeTrigger) bool {
		return strings.HasPrefix(by.WaitingFor, waitsForHuman) && strings.Contains(by.WaitingFor, string(t))
	}) {
		return roles.Human, true
	}
	if _, known := p.wakes[goal]; !known {
		p.wakes[goal] = Wakes(p.s, goal)
	}
	for _, w := range p.wakes[goal] {
		if slices.Contains(triggers, w.Trigger) {
			mark, looked := p.handled[w.Key()]
			if left = looked && mark == w.Mark; !left {
				return p.present, false
			}
		}
	}
	if left {
		return roles.Human, true
	}
	return p.present, false
}

// Wakes lists the triggers of a goal that hold now, the first to deal with first. A goal that is
// not in progress, or has used up its budget, has none.
func Wakes(s *board.State, goal string) []Wake {
	g := s.Goal(goal)
	if !s.Runs(goal) || board.SpentGoal(s, g) != nil {
		return nil
	}
	tasks := s.TasksOf(goal)
	if !s.Planned(g) {
		w := wake(s, g, InitialPlanning, said(s, g))
		w.About = nil // no task
		return []Wake{w}
	}
	var wakes []Wake
	holds := func(t WakeTrigger, ids []string) {
		if len(ids) > 0 {
			wakes = append(wakes, wake(s, g, t, ids))
		}
	}
	with := func(is func(board.Brief) bool) (ids []string) {
		for _, b := range tasks {
			if is(b) {
				ids = append(ids, b.ID)
			}
		}
		return ids
	}
	holds(InitialPlanning, leftDrafts(s, g))
	holds(Replan, said(s, g))
	holds(PlanRejected, with(func(b board.Brief) bool {
		return b.Plan == board.PlanRejected || b.Plan == board.PlanProposed && s.Team().PlanReviewer() == ""
	}))
	holds(BlockedTasks, with(func(b board.Brief) bool { return b.Status == board.Blocked }))
	holds(IntegrationFailures, with(func(b board.Brief) bool { return b.Status == board.IntegrationFailed }))
	holds(HypothesisExhausted, with(func(b board.Brief) bool { return b.Status == board.Blocked && b.Failures >= 2 }))
	holds(ImmediateDiscovery, immediate(s, g))
	holds(StaleReservation, with(func(b board.Brief) bool {
		return b.Status == board.Unclaimed && b.ReservedFor != "" && s.Agent(b.ReservedFor) == nil
	}))
	holds(PRFeedback, feedback(s, g))
	over := with(func(b board.Brief) bool { return b.Status.Terminal() })
	if len(over) == len(tasks) {
		wakes = append(wakes, wake(s, g, AllTerminal, over))
	}
	return wakes
}

// Drafted reports whether a goal has a draft that its planner has not finished.
func Drafted(s *board.State, g *board.Goal) bool {
	if board.SpentGoal(s, g) != nil {
		return false
	}
	return slices.ContainsFunc(s.TasksOf(g.ID), func(b board.Brief) bool { return b.Status == board.Draft && b.Plan != board.PlanProposed })
}

// leftDrafts lists the drafts of a plan that its planner has not finished: it wrote them in an
// earlier session, or another planner plans the goal now. Times are whole seconds: a draft of the
// second in which its planner registered again may be of either session, and counts as left, since
// to wake a planner in vain costs less than a forgotten draft.
func leftDrafts(s *board.State, g *board.Goal) (ids []string) {
	if !Drafted(s, g) {
		return nil
	}
	by := s.PlannerOf(g.ID)
	a := s.Agent(by)
	for _, b := range s.TasksOf(g.ID) {
		if b.Status != board.Draft || b.Plan != "" {
			continue
		}
		t := s.Task(b.ID)
		if t == nil {
			continue
		}
		role, err := s.RoleOf(t.CreatedBy)
		if err == nil && role == roles.Planner && (t.CreatedBy != by || a != nil && a.RegisteredAt >= t.Created) {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// PlansToReview lists the plans that wait for an agent's review: of each goal in progress, the
// drafts that are proposed.
func PlansToReview(s *board.State, agent string) []Wake {
	if by := s.Team().PlanReviewer(); by == "" || by != roles.NameOf(agent) {
		return nil
	}
	var wakes []Wake
	for _, g := range s.Running() {
		var drafts []string
		for _, b := range s.TasksOf(g.ID) {
			if b.Plan == board.PlanProposed && !b.Paused {
				drafts = append(drafts, b.ID)
			}
		}
		if len(drafts) > 0 && board.SpentGoal(s, g) == nil {
			wakes = append(wakes, wake(s, g, PlanReview, drafts))
		}
	}
	return wakes
}

// immediate lists the urgent undecided discoveries, of goal g or, if g is nil, of all goals.
func immediate(s *board.State, g *board.Goal) []string {
	return slices.DeleteFunc(slices.Clone(s.List(board.DiscoveryDir)), func(id string) bool {
		d := s.Discovery(id)
		return d == nil || !d.Pressing() || g != nil && !concerns(s, g, d.Goal, d.During, d.Created)
	})
}

// said lists what a plan depends on and nobody has dealt with: a human's notes for the planner and
// answers to its questions, a planner's hand-off, spec changes by a human, and agents' questions
// about the protocol.
func said(s *board.State, g *board.Goal) []string {
	var ids []string
	for _, id := range s.List(board.NoteDir) {
		if n := s.Note(id); n != nil && n.AcknowledgedBy == "" && (forPlanner(s, n) || handedOn(s, n)) && concerns(s, g, n.Goal, "", n.Timestamp) {
			ids = append(ids, id)
		}
	}
	for _, id := range s.List(board.SpecChangeDir) {
		if c := s.SpecChange(id); c != nil && c.AcknowledgedBy == "" && c.By == roles.HumanID && concerns(s, g, c.Goal, c.TriggeredBy, c.Timestamp) {
			ids = append(ids, id)
		}
	}
	for _, id := range s.List(board.AnomalyDir) {
		if a := s.Anomaly(id); a != nil && a.AcknowledgedBy == "" && a.Type == "system_ambiguity" && concerns(s, g, a.Goal, a.Task, a.Timestamp) {
			ids = append(ids, id)
		}
	}
	return ids
}

// feedback lists the notes of a goal's pull request that its planner has not acknowledged.
func feedback(s *board.State, g *board.Goal) []string {
	return slices.DeleteFunc(slices.Clone(s.List(board.NoteDir)), func(id string) bool {
		n := s.Note(id)
		return n == nil || n.Source == "" || n.Goal != g.ID || n.For != string(roles.Planner) || n.AcknowledgedBy != ""
	})
}

// forPlanner reports whether a note is a human's for a planner, or an answer to a planner's note.
func forPlanner(s *board.State, n *board.Note) bool {
	planner := func(id string) bool {
		role, err := s.RoleOf(id)
		return id == string(roles.Planner) || err == nil && role == roles.Planner
	}
	return n.By == roles.HumanID && n.Source == "" && planner(n.For) || n.Answer != "" && planner(n.By)
}

// handedOn reports whether a note is a planner's hand-off to the next one. A supervisor starts its own
// planner again after a hand-off, so that wakes others only once the id has a new session.
func handedOn(s *board.State, n *board.Note) bool {
	role, err := s.RoleOf(n.By)
	a := s.Agent(n.By)
	return err == nil && role == roles.Planner && n.HandsOff() && (a == nil || a.ByHand() || a.RegisteredAt > n.Timestamp)
}

// concerns reports whether a record concerns a goal: it names the goal or one of its tasks, or
// names neither and is not older than the goal.
func concerns(s *board.State, g *board.Goal, goal, task string, since board.Time) bool {
	if t := s.Task(task); goal == "" && t != nil {
		goal = t.Goal
	}
	return goal == g.ID || goal == "" && since >= g.Created
}

// wake creates a wake-up whose mark covers what a planner would look at: its subjects, and later
// messages of humans.
func wake(s *board.State, g *board.Goal, t WakeTrigger, about []string) Wake {
	var mark strings.Builder
	for _, id := range about {
		mark.WriteString(id)
		if task := s.Task(id); task != nil && t != AllTerminal {
			fmt.Fprintf(&mark, " %s %d", task.StatusChangedAt, len(task.History))
		}
		mark.WriteString("; ")
	}
	for _, id := range s.List(board.NoteDir) {
		if n := s.Note(id); n != nil && n.AcknowledgedBy == "" && concerns(s, g, n.Goal, "", n.Timestamp) && (slices.Contains(about, id) || n.Reaches(s, about...)) {
			mark.WriteString(strings.TrimSpace(id+" "+string(n.AnsweredAt)) + "; ")
		}
	}
	if t == AllTerminal && !g.Reopened.IsZero() {
		mark.WriteString("reopened " + string(g.Reopened) + "; ")
	}
	return Wake{Goal: g.ID, Trigger: t, About: about, Mark: mark.String()}
}
