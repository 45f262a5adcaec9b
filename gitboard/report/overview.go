package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
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
	Events       []Happened           `json:"events"`
	Progress     board.Time           `json:"last_progress,omitempty"`
	Tokens       int                  `json:"tokens,omitempty"`       // used by the sprint's runs
	TokenBudget  int                  `json:"token_budget,omitempty"` // of the sprint
	Now          board.Time           `json:"now"`

	only           *board.Goal   // the only goal to look at, nil for all
	running        []GoalOutlook // the goals in progress
	humanCompletes bool          // a goal waits for a human to complete it
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
	What string `json:"what"`
	Do   string `json:"do"`
}

// Turn is how many things wait for a role.
type Turn struct {
	Who   roles.Role `json:"who"`
	Count int        `json:"count"`
}

// TaskOutlook is a task, with its stage as StageOf, and its next step.
type TaskOutlook struct {
	board.Brief
	Worker       string     `json:"worker,omitempty"`        // who holds it, or held it last
	Turn         roles.Role `json:"turn,omitempty"`          // the role it waits for; "" if at work, or waiting for a task
	WaitsFor     []string   `json:"waits_for,omitempty"`     // tasks that have to be MERGED first
	AfterGoal    string     `json:"after_goal,omitempty"`    // the goal that has to end before its own is worked on
	Stuck        Obstacle   `json:"stuck,omitzero"`          // why it does not move by itself
	LeaseExpires board.Time `json:"lease_expires,omitempty"` // of the worker
	Review       string     `json:"review,omitempty"`        // see ReviewOf
}

// AgentOutlook is an agent and its lease.
type AgentOutlook struct {
	ID           string            `json:"id"`
	Status       board.AgentStatus `json:"status"`
	Task         string            `json:"task,omitempty"`
	LeaseExpires board.Time        `json:"lease_expires,omitempty"`
}

// Happened is an operation as one line.
type Happened struct {
	Time    board.Time `json:"time"`
	Agent   string     `json:"agent"`
	Subject string     `json:"subject"`
}

// Beside is an overview's input from outside the board.
type Beside struct {
	Leases   map[string]board.Lease // by agent; nil if unknown, as for a past board
	Events   []Happened             // the newest operations, newest first
	Stopped  []Halt                 // strongest first
	Unproven *Unproven              // nil if the board follows by replay, as far as is known
	Strays   []Stray                // commits on integration that the board has not recorded
	SetBack  *SetBack               // nil if integration is where the board left it, or if unknown
	Merging  *Train                 // nil if no merge is in progress
	Ahead    *Ahead                 // nil if unknown, and while the goal is IN_PROGRESS
	Goal     string                 // the only goal to look at, "" for all
	GaveUp   map[string]GaveUp      // by agent, as far as this clone knows
	Clone    string                 // the id of this clone, "" if unknown
	Apart    string                 // the remote whose board has diverged from this clone's, "" for none
}

// elsewhere reports whether a clone that a record names is known to be another one than this.
func (b Beside) elsewhere(clone string) bool {
	return b.Clone != "" && clone != "" && clone != b.Clone
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

// Apart is the command that shows the way out for boards that have diverged.
const Apart = "git liza doctor"

// apartFrom is the sentence that this clone's board and a remote's have diverged.
func apartFrom(remote string) string { return "the boards here and at " + remote + " have come apart" }

// Verify is the command that shows what is wrong with an unproven board.
const Verify = "git liza verify"

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
func Look(s *board.State, beside Beside, now time.Time) (*Overview, error) {
	sprint, control, breaker, m := s.Sprint(), s.Control(), s.Breaker(), Metrics{}
	config, tasks, goals := s.Config(), ShownTasks(s, beside.Goal), GoalsOf(s)
	if err := s.Err(); err != nil { // the goals and tasks may be missing
		return nil, err
	}
	for _, b := range tasks {
		m.count(b.Status)
	}
	o := &Overview{
		Time: s.Time(), humanCompletes: config.GoalCompletion == string(roles.Human), Sprint: sprint.ID, SprintStatus: sprint.Status, Timeline: sprint.Timeline,
		Tokens: sprint.Tokens, TokenBudget: config.BudgetSprintTokens, Planned: len(sprint.Scope.Planned), Mode: control.Mode, ModeSince: control.Since, ModeBy: control.By, Reason: control.Reason,
		Counts: map[board.Status]int{}, Done: m.TasksDone, InProgress: m.TasksInProgress, Blocked: m.TasksBlocked,
		Progress: board.LastProgress(s), Waiting: []Ask{}, Turns: []Turn{}, Tasks: make([]TaskOutlook, 0, len(tasks)), Agents: []AgentOutlook{},
		Events: append([]Happened{}, beside.Events...), Stopped: beside.Stopped, Unproven: beside.Unproven, Strays: beside.Strays, Now: board.At(now),
	}
	o.only = s.Goal(beside.Goal)
	o.goals(goals, beside.Goal)
	if t := beside.Merging; t != nil && o.Now < t.Expires {
		o.Merging = t
	}
	if breaker.Status == board.BreakerTriggered {
		o.Breaker = breaker.CurrentTrigger
	}
	for _, id := range s.List(board.AgentDir) {
		if a := s.Agent(id); a != nil {
			o.Agents = append(o.Agents, AgentOutlook{id, a.Status, a.CurrentTask, beside.Leases[id].Expires})
		}
	}
	for _, id := range sprint.Scope.Planned {
		if b, ok := s.BriefOf(id); ok && b.Status.Terminal() {
			o.PlannedDone++
		}
	}
	alive := o.alive(s, beside.Leases)
	planner := roles.Human // who has to plan
	if alive[roles.Planner] {
		planner = roles.Planner
	}
	reviewsPlan := roles.CodeReviewer // who judges what is proposed
	switch s.Team().PlanReviewer() {
	case "":
		reviewsPlan = planner
	case roles.HumanID:
		reviewsPlan = roles.Human
	}
	reviews := roles.CodeReviewer
	if config.ReviewBy == "human" {
		reviews = roles.Human
	}
	spent, after := map[string]bool{}, map[string]string{}
	for _, g := range o.running {
		spent[g.ID] = g.Spent != nil
	}
	for _, g := range goals {
		after[g.ID] = g.WaitsFor
	}
	later := func(b board.Brief) (string, *board.Goal) { return WaitsForLater(s, b) }
	ended := func(b board.Brief) (string, *board.Goal) { return WaitsForEnded(s, b) }
	stage := func(b board.Brief) string { return StageOf(s, b) }
	progress := func(task string) (p board.ReviewProgress) {
		if t := s.Task(task); t != nil {
			p = board.ProgressOf(s, t)
		}
		return p
	}
	o.tasks(tasks, forecast{spent: spent, after: after, ended: ended, later: later, merged: s.Merged, leases: beside.Leases, planner: planner, reviewsPlan: reviewsPlan, reviews: reviews, stage: stage, progress: progress})
	if beside.Apart != "" {
		o.ask(apartFrom(beside.Apart), Apart)
	}
	if back := beside.SetBack; back != nil {
		o.ask(back.Text, cmdline.Hint(back.Do))
	}
	if o.GoalStatus == board.InProgress {
		o.waiting(s, config, board.SpentBudget(config, sprint, s.Running()), planner)
		for _, id := range o.gaveUp(beside) {
			o.ask(id+" gave up: "+text.Line(beside.GaveUp[id].Reason, board.MaxPhrase), "git liza logs "+id)
		}
		o.turns(s, planner, alive)
	}
	return o, s.Err()
}

// gaveUp lists the agents that gave up and were not restarted, here or elsewhere.
func (o *Overview) gaveUp(beside Beside) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(beside.GaveUp)), func(id string) bool {
		return slices.ContainsFunc(o.Agents, func(a AgentOutlook) bool { return a.ID == id && o.Now < a.LeaseExpires })
	})
}

// alive returns the roles that have agents with unexpired leases.
func (o *Overview) alive(s *board.State, leases map[string]board.Lease) map[roles.Role]bool {
	alive := map[roles.Role]bool{}
	for _, a := range o.Agents {
		if role, err := s.RoleOf(a.ID); err == nil && (leases == nil || o.Now < a.LeaseExpires) {
			alive[role] = true
		}
	}
	return alive
}

// tasks computes the outlook of each task; f must be set as far as the caller knows it.
func (o *Overview) tasks(tasks []board.Brief, f forecast) {
	f.by, f.now, f.registered, f.seen = make(map[string]*board.Brief, len(tasks)), o.Now, map[string]bool{}, map[string]Obstacle{}
	for i := range tasks {
		f.by[tasks[i].ID] = &tasks[i]
	}
	for _, a := range o.Agents {
		f.registered[a.ID] = true
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

func (o *Overview) ask(what, do string) { o.Waiting = append(o.Waiting, Ask{what, do}) }

// waiting lists what only a human can resolve, the most urgent first.
func (o *Overview) waiting(s *board.State, config *board.Config, spent *board.Budget, planner roles.Role) {
	switch {
	case o.Breaker != nil:
		o.ask("the breaker tripped: "+o.Breaker.Pattern, "git liza resolve --text TEXT")
	case o.Mode == board.Paused && spent != nil:
		o.ask("the board is PAUSED: "+spent.String(), cmdline.Hint(spent.Raise()))
	case o.Mode == board.Paused || o.Mode == board.CheckpointMode:
		at := map[board.Mode]string{board.Paused: "the board is PAUSED: ", board.CheckpointMode: "the board is at CHECKPOINT: "}
		o.ask(at[o.Mode]+cmp.Or(text.Line(o.Reason, board.MaxPhrase), "no work is done"), "git liza resume")
	}
	for _, g := range o.running {
		if g.Spent != nil && o.Mode == board.Running {
			o.ask(g.Spent.String()+": no run begins for it", cmdline.Hint(g.Spent.Raise()))
		}
	}
	for _, stray := range o.Strays {
		o.ask(stray.Text, "git show "+stray.Commit)
	}
	for _, stop := range o.Stopped {
		o.ask("this clone is stopped by .liza/"+stop.File, "take .liza/"+stop.File+" away")
	}
	o.waitingTasks(s, config)
	for _, g := range o.running {
		switch {
		case g.Tasks == 0 && planner == roles.Human:
			o.ask(o.of(g)+"there is no task yet, and no planner", "git liza add-task -h")
		case g.Over() && (planner == roles.Human || o.humanCompletes):
			o.ask(o.of(g)+"every task is finished: is the goal reached?", o.completing(g))
		}
	}
	o.waitingRecords(s, planner)
}

// waitingTasks lists the tasks that wait for a human.
func (o *Overview) waitingTasks(s *board.State, config *board.Config) {
	var drafts, proposed, blocked []string
	for _, t := range o.Tasks {
		if b := blockedByBudget(s, config, t.Brief); b != nil {
			o.ask(b.String()+" and is BLOCKED", cmdline.Hint(b.Raise()))
			continue
		}
		switch {
		case t.Turn != roles.Human:
		case t.Paused:
			o.ask(t.ID+" is paused", "git liza resume --task "+t.ID)
		case t.Plan == board.PlanProposed:
			proposed = append(proposed, t.ID)
		case t.Status == board.Draft:
			drafts = append(drafts, t.ID)
		case t.Stuck.Kind == ReservedGone:
			o.ask(t.ID+" is kept for "+t.ReservedFor+", who is gone, and there is no planner", "git liza reassign "+t.ID)
		case t.Stuck.Kind == WaitsEnded:
			_, g := WaitsForEnded(s, t.Brief)
			o.ask(t.ID+" "+t.Stuck.String(), reopening(g))
		case t.Stuck.Kind == WaitsLater:
			o.ask(t.ID+" "+t.Stuck.String(), DependOnOthers(t.ID))
		case t.Status == board.ReadyForReview:
			o.ask(t.ID+" waits for your review", "git liza review "+t.ID+" --diff")
		default:
			blocked = append(blocked, t.ID)
		}
	}
	if n := len(blocked); n > maxBlocked {
		o.ask(strconv.Itoa(n)+" tasks are BLOCKED, and there is no planner", "git liza inbox")
	} else {
		for _, id := range blocked {
			o.ask(id+" is BLOCKED, and there is no planner", "git liza answer "+id+" TEXT")
		}
	}
	if n := len(proposed); n > 0 {
		o.ask("a plan waits for your review: "+text.Plural(n, "draft"), "git liza plan")
	}
	switch n := len(drafts); {
	case n == 1:
		o.ask(drafts[0]+" is a DRAFT", "git liza finalize "+drafts[0])
	case n > 1:
		o.ask(strconv.Itoa(n)+" tasks are DRAFT", Finalizing(drafts))
	}
}

// waitingRecords lists the discoveries, notes and anomalies that wait for a human.
func (o *Overview) waitingRecords(s *board.State, planner roles.Role) {
	if planner == roles.Human {
		for _, id := range immediate(s, o.only) {
			if d := s.Discovery(id); d != nil {
				o.ask(id+" can't wait: "+text.Line(d.Description, board.MaxPhrase), "git liza show "+id)
			}
		}
	}
	for _, id := range s.List(board.NoteDir) {
		if n := s.Note(id); Asks(n) && o.concerns(s, n.Goal, "", n.Timestamp) {
			o.ask(id+" from "+n.By+": "+text.Line(n.Message, board.MaxPhrase), "git liza answer "+id+" TEXT")
		}
	}
	for _, id := range s.List(board.AnomalyDir) {
		if a := s.Anomaly(id); a != nil && a.Type == "system_ambiguity" && a.AcknowledgedBy == "" && o.concerns(s, a.Goal, a.Task, a.Timestamp) {
			o.ask(id+" by "+a.Reporter+": "+text.Line(string(a.Details["question"]), board.MaxPhrase), "git liza ack "+id)
		}
	}
}

// concerns reports whether a record concerns the goals that the overview looks at.
func (o *Overview) concerns(s *board.State, goal, task string, since board.Time) bool {
	return o.only == nil || concerns(s, o.only, goal, task, since)
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
// for coders and reviewers. What waits for a role that no agent has also counts for the human.
func (o *Overview) turns(s *board.State, planner roles.Role, alive map[roles.Role]bool) {
	counts := map[roles.Role]int{}
	for _, t := range o.Tasks {
		if t.Turn == roles.Planner || t.Turn != roles.Human && o.Mode == board.Running && len(o.Stopped) == 0 {
			counts[t.Turn]++
		}
	}
	if planner == roles.Planner {
		counts[planner] += len(immediate(s, o.only))
		for _, g := range o.running {
			if g.Open == 0 && (g.Tasks == 0 || !o.humanCompletes) {
				counts[planner]++ // to plan, or to say that the goal is reached
			}
		}
	}
	for _, who := range []roles.Role{roles.Coder, roles.CodeReviewer} {
		name := strings.TrimSuffix(turnNames[who], "s")
		switch n := counts[who]; {
		case n == 0 || alive[who]:
		case n == 1:
			o.ask("a task waits for a "+name+", and there is none", "git liza agent "+who.Prefix())
		default:
			o.ask(strconv.Itoa(n)+" tasks wait for a "+name+", and there is none", "git liza agent "+who.Prefix())
		}
	}
	counts[roles.Human] = len(o.Waiting)
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
	parts := []string{"you " + strconv.Itoa(o.Waits(roles.Human))}
	for _, t := range o.Turns {
		if name := turnNames[t.Who]; name != "" {
			parts = append(parts, name+" "+strconv.Itoa(t.Count))
		}
	}
	return "Waiting: " + strings.Join(parts, ", ") + ". " + o.lately()
}

var turnNames = map[roles.Role]string{roles.Planner: "planner", roles.Coder: "coders", roles.CodeReviewer: "reviewers"}

func (o *Overview) lately() string {
	if o.Progress.IsZero() {
		return "No task yet."
	}
	return "Last progress " + board.Span(o.Now.Sub(o.Progress)) + " ago."
}
