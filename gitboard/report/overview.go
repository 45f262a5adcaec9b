package report

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Overview is a run at a glance: whose turn it is, what is stuck, how fast it moves. Every view of
// one of these figures takes it from an Overview.
type Overview struct {
	Time         board.Time           `json:"time"`            // of the newest operation
	Goal         string               `json:"goal"`            // for several: how many, and which
	Goals        []GoalOutlook        `json:"goals,omitempty"` // if the board has several
	GoalStatus   board.Phase          `json:"goal_status"`
	Sprint       string               `json:"sprint"`
	SprintStatus board.Phase          `json:"sprint_status"`
	Timeline     board.Timeline       `json:"timeline"`
	Planned      int                  `json:"planned"` // tasks in the sprint's scope
	PlannedDone  int                  `json:"planned_done"`
	StretchOpen  int                  `json:"stretch_open,omitempty"` // stretch tasks that are not finished
	Mode         board.Mode           `json:"mode"`
	ModeSince    board.Time           `json:"mode_since"`
	ModeBy       string               `json:"mode_by"`
	Reason       string               `json:"mode_reason,omitempty"`
	Breaker      *board.Trigger       `json:"breaker_trigger,omitempty"`
	Stopped      []Halt               `json:"clone_stopped,omitempty"` // only this clone
	Unproven     *Unproven            `json:"unproven,omitempty"`      // the rest is uncertain
	Strays       []Stray              `json:"unrecorded,omitempty"`    // commits on integration that the board has not recorded
	Waiting      []Ask                `json:"waiting_for_human"`
	Turns        []Turn               `json:"turns"`
	Tasks        []TaskOutlook        `json:"tasks"`
	Counts       map[board.Status]int `json:"counts"`
	Done         int                  `json:"tasks_done"`
	InProgress   int                  `json:"tasks_in_progress"`
	Blocked      int                  `json:"tasks_blocked"`
	Stuck        int                  `json:"tasks_stuck"`
	MergedLately int                  `json:"merged_in_last_hour"`
	Merging      *Train               `json:"merging,omitempty"`
	Agents       []AgentOutlook       `json:"agents"`
	HeldUp       string               `json:"held_up,omitempty"` // what keeps all agents from working that have work
	Events       []Happened           `json:"events"`
	Ahead        *Ahead               `json:"ahead,omitempty"` // of the main branch, once the goal is COMPLETED
	Behind       *Behind              `json:"behind,omitempty"`
	Progress     board.Time           `json:"last_progress,omitempty"`
	Tokens       int                  `json:"tokens,omitempty"`       // used by the sprint's runs
	TokenBudget  int                  `json:"token_budget,omitempty"` // of the sprint
	Unreported   string               `json:"unreported,omitempty"`   // a CLI that reported no tokens of a run
	Now          board.Time           `json:"now"`

	ForAgent bool `json:"-"` // the reader is an agent, and not the human that it waits for

	about      []string      // by entry of Waiting: its task, "" for none
	conditions []Condition   // of the board and of Tasks
	only       *board.Goal   // the only goal to look at, nil for all
	running    []GoalOutlook // the goals in progress
}

// Train is a merge in progress.
type Train struct {
	By      string     `json:"by"`
	Tasks   []string   `json:"tasks"`
	Testing []string   `json:"testing,omitempty"` // those that are being tested together
	Since   board.Time `json:"since"`
	Expires board.Time `json:"expires"` // the expiry of its lease
}

// Ask is something that only a human can resolve, and the command for it.
type Ask struct {
	What string     `json:"what"`
	Do   board.Hint `json:"do"`
}

// Turn is how many things wait for a role.
type Turn struct {
	Who   roles.Role `json:"who"`
	Count int        `json:"count"`
}

// TaskOutlook is a task, with its stage as StageOf, and its next step.
type TaskOutlook struct {
	board.Brief
	Worker       string     `json:"worker,omitempty"`          // who holds it, or held it last
	Turn         roles.Role `json:"turn,omitempty"`            // the role it waits for; "" if at work, or waiting for a task
	Left         bool       `json:"left_by_planner,omitempty"` // a planner looked at it, and is not woken for it again
	WaitsFor     []string   `json:"waits_for,omitempty"`       // tasks that have to be MERGED first
	AfterGoal    string     `json:"after_goal,omitempty"`      // the goal that has to end before its own is worked on
	Stuck        Obstacle   `json:"stuck,omitzero"`            // why it does not move by itself
	LeaseExpires board.Time `json:"lease_expires,omitempty"`   // of the worker
	Review       string     `json:"review,omitempty"`          // see ReviewOf
}

// Matches reports whether a task passes a human's filter: each word of it occurs in the task's id, title,
// status, stage or worker, or it is "!" and the task is stuck. Other tasks, behind which it waits, are not
// looked at: a task is found by its own id alone.
func (t TaskOutlook) Matches(filter string) bool {
	if filter == "!" {
		return t.IsStuck()
	}
	text := strings.ToLower(strings.Join([]string{t.ID, t.Title, string(t.Status), t.Stage, t.Worker}, " "))
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(filter)), func(word string) bool { return !strings.Contains(text, word) })
}

// AgentOutlook is an agent and its lease.
type AgentOutlook struct {
	ID           string            `json:"id"`
	Status       board.AgentStatus `json:"status"`
	Task         string            `json:"task,omitempty"`
	LeaseExpires board.Time        `json:"lease_expires,omitempty"`
	WaitingFor   string            `json:"waiting_for,omitempty"` // what keeps it from working
}

// Happened is an operation as one line.
type Happened struct {
	Time    board.Time `json:"time"`
	Agent   string     `json:"agent"`
	Subject string     `json:"subject"`
}

// Outside is an overview's input from outside the board.
type Outside struct {
	Leases   map[string]board.Lease // by agent; nil if unknown, as for a past board
	Events   []Happened             // the newest operations, newest first
	Stopped  []Halt                 // strongest first
	Unproven *Unproven              // nil if the board follows by replay, as far as is known
	Strays   []Stray                // commits on integration that the board has not recorded
	SetBack  *SetBack               // nil if integration is where the board left it, or if unknown
	Merging  *Train                 // nil if no merge is in progress
	Ahead    *Ahead                 // nil if unknown, and while the goal is IN_PROGRESS
	Behind   *Behind                // nil if unknown, and if integration has all of the main branch
	Goal     string                 // the only goal to look at, "" for all
	GaveUp   map[string]GaveUp      // by agent, as far as this clone knows
	Handled  map[string]string      // by Wake.Key: the mark of what a planner has looked at, as far as this clone knows
	Clone    string                 // the id of this clone, "" if unknown
	NoSpec   []string               // the goals whose specification is not on integration
	You      string                 // the human who asks, as Actor.Identity has it; "" if unknown
	// NoSpecDrafts are the drafts whose specification is not.
	NoSpecDrafts []string
	Apart        string // the remote whose board has diverged from this clone's, "" for none
}

// elsewhere reports whether a clone that a record names is known to be another one than this.
func (b Outside) elsewhere(clone string) bool {
	return b.Clone != "" && clone != "" && clone != b.Clone
}

// otherReviewer is the human who reviews a task, by name; "" if it is the one who asks, or unknown.
func (b Outside) otherReviewer(t *board.Task) string {
	if t == nil || b.You == "" || t.ReviewingAs == "" || t.ReviewingAs == b.You {
		return ""
	}
	return board.Approval{By: t.ReviewingBy, As: t.ReviewingAs}.Author()
}

// GaveUp is the end of a supervisor that stopped by itself before its work was done.
type GaveUp struct {
	Since  board.Time
	Reason string
}

// Unproven is an operation that does not follow from the board before it. No operation may be built
// on a board with one, and its content may be false.
type Unproven struct {
	Commit string `json:"commit"`
	Text   string `json:"text"`
}

// Verify is the command that shows what is wrong with an unproven board.
var Verify = board.ActOn("verify")

// String explains it.
func (u *Unproven) String() string {
	return fmt.Sprintf("the board breaks its rules at %.10s: do not trust what it shows", u.Commit)
}

// Stray is an agent's unreviewed commit, which reached integration without an operation.
type Stray struct {
	Commit string `json:"commit"`
	Text   string `json:"text"`
}

// SetBack means that integration lacks the last landing: somebody moved the branch back or deleted
// it.
type SetBack struct {
	Text string
	Do   board.Hint // the way back
}

// Halt is a file by which a human stops one clone.
type Halt struct {
	File  string     `json:"file"` // PAUSE, CHECKPOINT or ABORT, in .liza
	Mode  board.Mode `json:"-"`    // the mode that it puts the clone in
	Since board.Time `json:"since"`
}

// Look computes the overview of a board at a given time.
func Look(s *board.State, outside Outside, now time.Time) (*Overview, error) {
	o, err := lookAt(s, ShownTasks(s, outside.Goal), outside, now)
	if err != nil {
		return nil, err
	}
	o.waiting()
	return o, s.Err()
}

// lookAt computes an overview of tasks, without the list of what waits for a human.
func lookAt(s *board.State, tasks []board.Brief, outside Outside, now time.Time) (*Overview, error) {
	sprint, control, breaker, m := s.Sprint(), s.Control(), s.Breaker(), Metrics{}
	config, goals := s.Config(), GoalsOf(s)
	if err := s.Err(); err != nil { // the goals and tasks may be missing
		return nil, err
	}
	for _, b := range tasks {
		m.count(b.Status)
	}
	o := &Overview{
		Time: s.Time(), Sprint: sprint.ID, SprintStatus: sprint.Status, Timeline: sprint.Timeline,
		Tokens: sprint.Tokens, TokenBudget: config.BudgetSprintTokens, Unreported: sprint.Unreported, Planned: len(sprint.Scope.Planned), Mode: control.Mode, ModeSince: control.Since, ModeBy: control.By, Reason: control.Reason,
		Counts: map[board.Status]int{}, Done: m.TasksDone, InProgress: m.TasksInProgress, Blocked: m.TasksBlocked,
		Progress: board.LastProgress(s), Waiting: []Ask{}, Turns: []Turn{}, Tasks: make([]TaskOutlook, 0, len(tasks)), Agents: []AgentOutlook{},
		Events: append([]Happened{}, outside.Events...), Stopped: outside.Stopped, Unproven: outside.Unproven, Strays: outside.Strays, Ahead: outside.Ahead, Behind: outside.Behind, Now: board.At(now),
	}
	o.only = s.Goal(outside.Goal)
	o.goals(goals, outside.Goal)
	if t := outside.Merging; t != nil && o.Now < t.Expires {
		o.Merging = t
	}
	if breaker.Status == board.BreakerTriggered {
		o.Breaker = breaker.CurrentTrigger
	}
	for _, id := range s.List(board.AgentDir) {
		if a := s.Agent(id); a != nil {
			o.Agents = append(o.Agents, AgentOutlook{id, a.Status, a.CurrentTask, outside.Leases[id].Expires, a.WaitingFor})
		}
	}
	o.HeldUp = o.heldUp()
	for _, id := range sprint.Scope.Planned {
		if b, ok := s.BriefOf(id); ok && b.Status.Terminal() {
			o.PlannedDone++
		}
	}
	for _, id := range sprint.Scope.Stretch {
		if b, ok := s.BriefOf(id); ok && !b.Status.Terminal() {
			o.StretchOpen++
		}
	}
	planner := roles.Human // who has to plan
	for _, r := range s.Team().Roles {
		if r.Kind == board.PlannerKind && o.present(outside.Leases, r.Name) {
			planner = roles.Planner
		}
	}
	plans := planners{s: s, present: planner, handled: outside.Handled, wakes: map[string][]Wake{}}
	cast := forecast{s: s, now: o.Now, leases: outside.Leases, planner: plans, goals: map[string]GoalOutlook{}, by: map[string]*board.Brief{}, seen: map[string]Obstacle{}}
	for _, g := range goals {
		cast.goals[g.ID] = g
	}
	o.tasks(tasks, &cast)
	f := finder{s: s, o: o, outside: outside}
	o.conditions = f.find(config, board.SpentBudget(config, sprint, s.Running()), plans)
	return o, s.Err()
}

// heldUp is what keeps all live agents that would work from it: the wait of the first of them. It is
// "" while one of them works, or all are idle.
func (o *Overview) heldUp() (why string) {
	for _, a := range o.Agents {
		switch {
		case a.LeaseExpires != "" && a.LeaseExpires <= o.Now, a.WaitingFor == "" && (a.Status == board.Idle || a.Status == board.HandedOff):
		case a.WaitingFor == "":
			return ""
		case why == "":
			why = a.WaitingFor
		}
	}
	return why
}

// present reports whether a role has an agent with an unexpired lease.
func (o *Overview) present(leases map[string]board.Lease, role string) bool {
	return slices.ContainsFunc(o.Agents, func(a AgentOutlook) bool {
		return roles.NameOf(a.ID) == role && (leases == nil || o.Now < a.LeaseExpires)
	})
}

// tasks computes the outlook of each task.
func (o *Overview) tasks(tasks []board.Brief, f *forecast) {
	for _, b := range f.s.Tasks() { // also those that are not shown, for dependencies
		f.by[b.ID] = &b
	}
	hour := o.Now.Add(-time.Hour)
	for _, b := range tasks {
		o.Counts[b.Status]++
		if b.Status == board.Merged && b.StatusChangedAt >= hour {
			o.MergedLately++
		}
		t := f.outlook(b)
		if t.IsStuck() {
			o.Stuck++
		}
		o.Tasks = append(o.Tasks, t)
	}
}

// maxBlocked is how many BLOCKED tasks are listed one by one: more would hide everything else that
// waits.
const maxBlocked = 5

// waiting sets what waits for whom; for the human, the most urgent first.
func (o *Overview) waiting() {
	alike := map[ItemKind][]string{}
	for _, c := range o.conditions {
		if c.For == roles.Human && c.Budget == nil {
			alike[c.Kind] = append(alike[c.Kind], c.ID)
		}
	}
	conditions := slices.Clone(o.conditions)
	sort.SliceStable(conditions, func(i, j int) bool {
		a, b := conditions[i].Kind, conditions[j].Kind
		return cmp.Or(-CompareBools(a.wholeBoard(), b.wholeBoard()), -CompareBools(a.asks(), b.asks())) < 0
	})
	for _, c := range conditions {
		if c.For != roles.Human || c.Kind == ItemUnproven || o.GoalStatus != board.InProgress && !c.Kind.wholeHistory() {
			continue
		}
		line := o.line(c)
		if all := alike[c.Kind]; c.Budget == nil {
			if together := together(c.Kind, all); together.What != "" && c.ID != all[0] {
				continue
			} else if together.What != "" {
				line = together
			}
		}
		o.Waiting, o.about = append(o.Waiting, line), append(o.about, c.Task())
	}
	if o.GoalStatus == board.InProgress {
		o.turns()
	}
}

// About is the task that an entry of Waiting is about, "" for none.
func (o *Overview) About(i int) string { return o.about[i] }

// together is one line for several tasks with conditions of a kind; empty if each has its own.
func together(kind ItemKind, tasks []string) Ask {
	switch n := len(tasks); {
	case kind == ItemBlocked && n > maxBlocked:
		return Ask{strconv.Itoa(n) + " tasks are BLOCKED, and no planner deals with them", board.ActOn("inbox").Hint()}
	case kind == ItemProposed:
		return Ask{"a plan waits for your review: " + text.Plural(n, "draft"), board.ActOn("plan").Hint()}
	case kind == ItemDrafts && n == 1:
		return Ask{tasks[0] + " is a DRAFT", Finalizing(tasks)}
	case kind == ItemDrafts:
		return Ask{strconv.Itoa(n) + " drafts: review the plan", board.ActOn("plan").Hint()}
	}
	return Ask{}
}

// blockedByBudget is the used-up budget of a BLOCKED task, which only a human can raise; nil for
// any other task.
func blockedByBudget(s *board.State, config *board.Config, b board.Brief) *board.Budget {
	if b.Status != board.Blocked || config.BudgetTaskTokens == 0 {
		return nil
	}
	t := s.Task(b.ID)
	if t == nil {
		return nil
	}
	if spent := board.TaskBudget(config, t); spent != nil && spent.Spent() {
		return spent
	}
	return nil
}

// turns counts what waits for whom. A stopped board waits only for the human who can resume it, not
// for coders and reviewers.
func (o *Overview) turns() {
	counts := map[roles.Role]int{roles.Human: len(o.Waiting)}
	for _, c := range o.conditions {
		if c.For == roles.Planner {
			counts[roles.Planner]++
		}
	}
	for _, t := range o.Tasks {
		if (t.Turn == roles.Coder || t.Turn == roles.CodeReviewer) && o.Mode == board.Running && len(o.Stopped) == 0 {
			counts[t.Turn]++
		}
	}
	for _, who := range []roles.Role{roles.Human, roles.Planner, roles.Coder, roles.CodeReviewer} {
		if n := counts[who]; n > 0 {
			o.Turns = append(o.Turns, Turn{who, n})
		}
	}
}

// Waits is the number of things that wait for a role.
func (o *Overview) Waits(who roles.Role) int {
	for _, t := range o.Turns {
		if t.Who == who {
			return t.Count
		}
	}
	return 0
}

// Summary is the overview in one line: what waits for whom, and when something last moved.
func (o *Overview) Summary() string {
	if o.GoalStatus != board.InProgress {
		return "The goal is " + string(o.GoalStatus) + ". " + o.lately()
	}
	held := ""
	if o.HeldUp != "" {
		held = "Everybody waits: " + text.Line(o.HeldUp, 100) + ". "
	}
	parts := []string{o.Human("you") + " " + strconv.Itoa(o.Waits(roles.Human))}
	for _, t := range o.Turns {
		if name := turnNames[t.Who]; name != "" {
			parts = append(parts, name+" "+strconv.Itoa(t.Count))
		}
	}
	return held + "Waiting: " + strings.Join(parts, ", ") + ". " + o.lately()
}

// Human is the word of a text for the human: you to the human, or "the human" to an agent.
func (o *Overview) Human(you string) string {
	if o.ForAgent {
		return "the human"
	}
	return you
}

var turnNames = map[roles.Role]string{roles.Planner: "planner", roles.Coder: "coders", roles.CodeReviewer: "reviewers"}

func (o *Overview) lately() string {
	if o.Progress.IsZero() {
		return "No task yet."
	}
	return "Last progress " + board.Span(o.Now.Sub(o.Progress)) + " ago."
}
