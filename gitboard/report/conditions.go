package report

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// maxReason is how many characters of a reason a line shows.
const maxReason = 120

// Condition is a reason why work waits, and who ends it. The inbox, the overview and the alarms are
// views of one list of conditions.
type Condition struct {
	Kind  ItemKind
	ID    string     // of the task, goal, agent, role, note, anomaly, discovery, commit or file; "" for the board
	For   roles.Role // who ends it; "" while another condition has to end first
	Since board.Time // later than now if time alone brings it about; "" if unknown
	Agent string     // the absent agent
	Gone  bool       // it deregistered; otherwise only its lease expired
	Heard board.Time // its last heartbeat
	Tasks []string   // the tasks that wait for it, without those that depend on them
	Text  string     // the reason or the message; of a review, another human who has it
	Do    board.Hint // the way out, if the kind alone does not give it

	Of     string        // the goal of the task
	Needed string        // the task of another goal that is waited for
	Goal   *board.Goal   // that goal
	Budget *board.Budget // the used-up budget
	Plans  int           // how many plans the tasks form, if all are proposed
	Left   bool          // a planner looked at it, and is not woken for it again
	Mode   board.Mode    // of the halt
	Short  int           // how many approvals more are needed than can be given
	Merges bool          // the tasks are APPROVED, and wait for their merge

	goal GoalOutlook // the subject, if it is a goal
}

// Task is the subject if it is a task, else "".
func (c Condition) Task() string {
	if len(c.Tasks) == 1 && c.Tasks[0] == c.ID {
		return c.ID
	}
	return ""
}

// Conditions lists the conditions of all unfinished tasks of a board, and of the board itself, at a
// given time. Work that no agent does and no agent is there to take waits for the human.
func Conditions(s *board.State, outside Outside, now time.Time) ([]Condition, error) {
	o, err := lookAt(s, s.Tasks(), outside, now)
	if err != nil {
		return nil, err
	}
	return o.conditions, s.Err()
}

// finder collects the conditions of an overview's tasks, in the order in which the overview lists
// them.
type finder struct {
	s       *board.State
	o       *Overview
	outside Outside
	all     []Condition

	blocked, proposed, drafts []Condition // after the other tasks
}

func (f *finder) add(c Condition) { f.all = append(f.all, c) }

// find lists the conditions. spent is a budget that no run may exceed.
func (f *finder) find(config *board.Config, spent *board.Budget, planner planners) []Condition {
	f.halts(spent)
	for _, t := range f.o.Tasks {
		if !t.Status.Terminal() {
			f.task(t, config)
		}
	}
	f.all = slices.Concat(f.all, f.blocked, f.proposed, f.drafts)
	f.goals(planner)
	f.records(planner)
	f.agents()
	f.noAgent()
	return f.all
}

// halts finds what stops the board, goals or this clone, and commits that the board does not record.
func (f *finder) halts(spent *board.Budget) {
	o := f.o
	if u := o.Unproven; u != nil {
		f.add(Condition{Kind: ItemUnproven, For: roles.Human, Text: u.Text})
	}
	if f.outside.Apart != "" {
		f.add(Condition{Kind: ItemApart, ID: f.outside.Apart, For: roles.Human})
	}
	if back := f.outside.SetBack; back != nil {
		f.add(Condition{Kind: ItemSetBack, For: roles.Human, Text: back.Text, Do: back.Do})
	}
	if o.Mode != board.Paused {
		spent = nil
	}
	stopped := Condition{Kind: ItemStopped, Mode: o.Mode, For: roles.Human, Since: o.ModeSince, Text: o.Reason, Budget: spent}
	if o.Breaker != nil {
		f.add(Condition{Kind: ItemBreaker, For: roles.Human, Since: o.Breaker.Timestamp, Text: o.Reason, Budget: spent})
		stopped.For = "" // until the trigger is resolved
	}
	if o.Mode == board.Paused || o.Mode == board.CheckpointMode {
		f.add(stopped)
	}
	for _, g := range o.running {
		if g.Spent != nil && o.Mode == board.Running {
			f.add(Condition{Kind: ItemGoalStopped, ID: g.ID, For: roles.Human, Budget: g.Spent, goal: g})
		}
	}
	for _, stray := range o.Strays {
		f.add(Condition{Kind: ItemUnrecorded, ID: stray.Commit, For: roles.Human, Text: stray.Text, Do: board.Advice("git show %s", stray.Commit)})
	}
	for _, stop := range o.Stopped {
		f.add(Condition{Kind: ItemCloneStopped, ID: stop.File, Mode: stop.Mode, For: roles.Human, Since: stop.Since, Do: board.Advice("take .liza/%s away", stop.File)})
	}
}

// task finds the conditions of an unfinished task.
func (f *finder) task(t TaskOutlook, config *board.Config) {
	if t.Paused {
		c := Condition{Kind: ItemPaused, ID: t.ID, For: roles.Human, Tasks: []string{t.ID}}
		if task := f.s.Task(t.ID); task != nil && task.Last(board.EventPaused) != nil {
			e := task.Last(board.EventPaused)
			c.Since, c.Agent, c.Text = e.Time, e.Agent, e.Reason
		}
		f.add(c)
	}
	switch {
	case t.Status == board.Blocked:
		c := about(t, ItemBlocked, t.StatusChangedAt)
		if task := f.s.Task(t.ID); task != nil {
			c.Text = task.BlockedReason
		}
		if c.Budget = blockedByBudget(f.s, config, t.Brief); c.Budget == nil {
			f.blocked = append(f.blocked, c)
			break
		}
		if c.For != "" {
			c.For = roles.Human
		}
		f.add(c)
	case t.Plan == board.PlanProposed:
		f.proposed = append(f.proposed, about(t, ItemProposed, t.Moved))
	case t.Status == board.Draft:
		f.drafts = append(f.drafts, about(t, ItemDrafts, t.StatusChangedAt))
	case t.Status == board.ReadyForReview && t.Turn == roles.Human:
		c := about(t, ItemReview, t.StatusChangedAt)
		c.Text = f.outside.otherReviewer(f.s.Task(t.ID))
		f.add(c)
	}
	f.quorum(t)
	f.absent(t)
	f.otherGoals(t)
}

// about is a condition of a task that its turn ends.
func about(t TaskOutlook, kind ItemKind, since board.Time) Condition {
	c := Condition{Kind: kind, ID: t.ID, For: t.Turn, Left: t.Left, Since: since, Tasks: []string{t.ID}, Of: t.Goal}
	if t.Paused {
		c.For = "" // until it continues
	}
	return c
}

// quorum finds a submission whose review policy asks for more approvals than live agents may give. A
// policy that asks for one by any reviewer is no case for it.
func (f *finder) quorum(t TaskOutlook) {
	task := f.s.Task(t.ID)
	if t.Status != board.ReadyForReview || t.Paused || t.ReviewingBy != "" || task == nil || f.outside.Leases == nil || f.s.Config().ReviewBy == "human" {
		return
	}
	progress := board.ProgressOf(f.s, task)
	policy := progress.Policy
	if policy.Quorum() == 1 && !policy.Required && len(policy.By) == 0 {
		return
	}
	c := about(t, ItemQuorum, t.Moved)
	c.Short, c.Text = progress.Missing(), cmp.Or(progress.String(), "no approval")
	if progress.AwaitsHuman() || slices.Contains(policy.By, roles.HumanID) {
		c.Short-- // a human can give one
	}
	for _, id := range board.ReviewersOf(f.s, task) {
		if f.goneSince(id, f.o.Now) > f.o.Now {
			c.Short--
		}
	}
	if c.Short <= 0 {
		return
	}
	switch {
	case f.o.Mode != board.Running || len(f.o.Stopped) > 0 || !f.anyPresent(ableRoles(f.s.Team(), t)):
		c.For = "" // another condition comes first
	case c.For == roles.CodeReviewer:
		c.For = roles.Human
	}
	f.add(c)
}

// absent finds work of agents whose leases expire. It finds none if leases are unknown.
func (f *finder) absent(t TaskOutlook) {
	if f.outside.Leases == nil {
		return
	}
	gone := func(kind ItemKind, agent string, since board.Time) {
		c := about(t, kind, since)
		c.Agent, c.Gone = agent, f.s.Agent(agent) == nil
		if kind == ItemReserved && t.Stuck.Kind != ReservedGone {
			c.For = ""
		}
		f.add(c)
	}
	switch {
	case t.Status == board.Claimed && !t.HandoffPending:
		gone(ItemCoderGone, t.AssignedTo, f.goneSince(t.AssignedTo, t.StatusChangedAt))
	case t.Status == board.ReadyForReview && t.ReviewingBy != "" && t.ReviewingBy != roles.HumanID:
		gone(ItemReviewerGone, t.ReviewingBy, f.goneSince(t.ReviewingBy, t.Moved))
	case t.Status == board.Rejected && !t.Freed:
		// An author working on another task takes this one up afterwards; an idle one should have
		// claimed it.
		since := t.StatusChangedAt
		if a := f.s.Agent(t.AssignedTo); a != nil && a.Status == board.Working {
			since = f.goneSince(t.AssignedTo, since)
		}
		gone(ItemOrphaned, t.AssignedTo, since)
	case t.Status == board.Unclaimed && t.ReservedFor != "":
		gone(ItemReserved, t.ReservedFor, max(t.StatusChangedAt, f.goneSince(t.ReservedFor, t.StatusChangedAt)))
	}
}

// goneSince is the time at which an agent's lease expires, or a given one for an agent without a
// known lease.
func (f *finder) goneSince(agent string, otherwise board.Time) board.Time {
	if l, held := f.outside.Leases[agent]; held && f.s.Agent(agent) != nil {
		return l.Expires
	}
	return otherwise
}

// otherGoals finds dependencies on tasks of goals that have ended or come later.
func (f *finder) otherGoals(t TaskOutlook) {
	waits := func(kind ItemKind, stuck ObstacleKind, needed string, g *board.Goal, since board.Time, do board.Hint) {
		c := about(t, kind, since)
		if c.Needed, c.Goal, c.Do = needed, g, do; t.Stuck.Kind != stuck {
			c.For = ""
		}
		f.add(c)
	}
	if needed, g := WaitsForEnded(f.s, t.Brief); g != nil {
		waits(ItemEndedGoal, WaitsEnded, needed, g, g.Ended, WayOutOfEnded(t.ID, g))
	}
	if needed, g := WaitsForLater(f.s, t.Brief); g != nil {
		waits(ItemLaterGoal, WaitsLater, needed, g, t.Moved, DependOnOthers(t.ID))
	}
}

// goals finds goals that have to be planned or completed.
func (f *finder) goals(planner planners) {
	for _, g := range f.o.running {
		c := Condition{ID: g.ID, For: planner.present, goal: g}
		switch {
		case g.Tasks == 0 && slices.Contains(f.outside.NoSpec, g.ID):
			c.Kind, c.For = ItemNoSpec, roles.Human
		case g.Tasks == 0:
			c.Kind, c.Agent = ItemNoPlan, g.Planner
			if c.For, c.Left = planner.of(g.ID, InitialPlanning); c.Left {
				c.Since = g.Created
			}
		case g.Over():
			c.Kind, c.Since = ItemGoalOver, f.o.Progress
			if g.awaitsEnd || slices.Contains(f.outside.NoSpec, g.ID) { // no planner is started
				c.For = roles.Human
			}
		default:
			continue
		}
		f.add(c)
	}
}

// records finds urgent discoveries, questions for the human and about the protocol.
func (f *finder) records(planner planners) {
	for _, id := range immediate(f.s, f.o.only) {
		if d := f.s.Discovery(id); d != nil {
			goal := d.Goal
			if t := f.s.Task(d.During); goal == "" && t != nil {
				goal = t.Goal
			}
			who, left := planner.of(goal, ImmediateDiscovery)
			f.add(Condition{Kind: ItemDiscovery, ID: id, For: who, Left: left, Since: d.Created, Text: d.Description})
		}
	}
	concerns := func(goal, task string, since board.Time) bool {
		return f.o.only == nil || concerns(f.s, f.o.only, goal, task, since)
	}
	for _, id := range f.s.List(board.NoteDir) {
		if n := f.s.Note(id); Asks(n) && concerns(n.Goal, "", n.Timestamp) {
			f.add(Condition{Kind: ItemQuestion, ID: id, For: roles.Human, Since: n.Timestamp, Agent: cmp.Or(n.Author, n.By), Text: n.Text()})
		}
	}
	for _, id := range f.s.List(board.AnomalyDir) {
		if a := f.s.Anomaly(id); a != nil && a.Type == "system_ambiguity" && a.AcknowledgedBy == "" && concerns(a.Goal, a.Task, a.Timestamp) {
			c := Condition{Kind: ItemAmbiguity, ID: id, For: roles.Human, Since: a.Timestamp, Agent: a.Reporter, Text: string(a.Details["question"])}
			if a.Task != "" {
				c.Tasks = []string{a.Task}
			}
			f.add(c)
		}
	}
}

// agents finds agents that gave up and were not restarted, here or elsewhere, and those that are
// gone with work in hand.
func (f *finder) agents() {
	held := map[string][]string{}
	for _, t := range f.o.Tasks {
		if t.Stuck.Kind == CoderGone || t.Stuck.Kind == ReviewerGone {
			held[t.Worker] = append(held[t.Worker], t.ID)
		}
	}
	for id, up := range f.outside.GaveUp {
		a := f.s.Agent(id)
		if alive := a != nil && f.o.Now < f.outside.Leases[id].Expires; !alive || a.RegisteredAt <= up.Since && !a.ByHand() {
			held[id] = append([]string{}, held[id]...)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(held)) {
		c := Condition{Kind: ItemAgentGone, ID: id, Since: f.outside.Leases[id].Heartbeat, Tasks: held[id], Gone: f.s.Agent(id) == nil}
		if up, gave := f.outside.GaveUp[id]; gave {
			c.For, c.Since, c.Text = roles.Human, up.Since, up.Reason
		}
		for _, t := range f.o.Tasks {
			if slices.Contains(c.Tasks, t.ID) {
				c.Since = cmp.Or(c.Since, t.StatusChangedAt)
			}
		}
		f.add(c)
	}
}

// noAgent finds the roles that work waits for and no agent has.
func (f *finder) noAgent() {
	if f.o.Mode != board.Running || len(f.o.Stopped) > 0 {
		return
	}
	team := f.s.Team()
	waits := map[string][]TaskOutlook{}
	for _, t := range f.o.Tasks {
		able := ableRoles(team, t)
		if len(able) > 0 && f.s.Runs(t.Goal) && !f.anyPresent(able) {
			waits[able[0]] = append(waits[able[0]], t)
		}
	}
	for _, role := range team.RoleNames() {
		if tasks := waits[role]; len(tasks) > 0 {
			f.add(f.awaited(role, tasks))
		}
	}
}

// anyPresent reports whether one of some roles has an agent with an unexpired lease.
func (f *finder) anyPresent(names []string) bool {
	return slices.ContainsFunc(names, func(role string) bool { return f.o.present(f.outside.Leases, role) })
}

// ableRoles lists the team's roles whose agents may take on what a task waits for.
func ableRoles(team *board.Team, t TaskOutlook) []string {
	switch {
	case t.Turn == roles.Coder:
		if stage := team.Stage(t.InStage()); stage != nil {
			return []string{stage.Role}
		}
	case t.Turn == roles.CodeReviewer && t.Plan == board.PlanProposed:
		return []string{team.PlanReviewer()}
	case t.Turn == roles.CodeReviewer:
		by := team.ReviewPolicy(t.InStage()).By
		return slices.DeleteFunc(team.RoleNames(), func(name string) bool {
			return team.Role(name).Kind != board.ReviewerKind || t.Status == board.ReadyForReview && len(by) > 0 && !slices.Contains(by, name)
		})
	}
	return nil
}

// awaited is the condition that no agent has a role.
func (f *finder) awaited(role string, tasks []TaskOutlook) Condition {
	c := Condition{Kind: ItemNoAgent, ID: role, For: roles.Human, Since: f.o.Now}
	plans := map[string]bool{}
	for _, t := range tasks {
		c.Tasks = append(c.Tasks, t.ID)
		since := t.StatusChangedAt
		if t.Plan == board.PlanProposed {
			plans[t.Goal], since = true, t.Moved
		}
		c.Since = min(c.Since, since)
	}
	for _, id := range f.s.List(board.AgentDir) {
		if roles.NameOf(id) == role {
			l, held := f.outside.Leases[id]
			if held && l.Ended == "" && l.Heartbeat >= c.Heard {
				c.Agent, c.Heard = id, l.Heartbeat
			}
			c.Since = max(c.Since, f.goneSince(id, c.Since)) // until then there was an agent
		}
	}
	if !slices.ContainsFunc(tasks, func(t TaskOutlook) bool { return t.Plan != board.PlanProposed }) {
		c.Plans = len(plans)
	}
	c.Merges = !slices.ContainsFunc(tasks, func(t TaskOutlook) bool { return t.Status != board.Approved })
	return c
}

// noPlanner is why a planner does not end the condition.
func (c Condition) noPlanner() string {
	if c.Left {
		return "the planner left it to you"
	}
	return "there is no planner"
}

// line is a condition that waits for the human as the overview shows it: in one line, with one
// command.
func (o *Overview) line(c Condition) Ask {
	phrase := text.Line(c.Text, maxReason)
	switch c.Kind {
	case ItemApart:
		return Ask{"the boards here and at " + c.ID + " have come apart", board.ActOn("doctor").Hint()}
	case ItemSetBack:
		return Ask{c.Text, c.Do}
	case ItemBreaker:
		return Ask{"the breaker tripped: " + o.Breaker.Pattern, board.ActOn("resolve").With("text", "TEXT").Hint()}
	case ItemStopped:
		if c.Budget != nil {
			return Ask{"the board is PAUSED: " + c.Budget.String(), c.Budget.Raise()}
		}
		at := map[board.Mode]string{board.Paused: "the board is PAUSED: ", board.CheckpointMode: "the board is at CHECKPOINT: "}
		return Ask{at[o.Mode] + cmp.Or(phrase, "no work is done"), board.ActOn("resume").Hint()}
	case ItemGoalStopped:
		return Ask{c.Budget.String() + ": no run begins for it", c.Budget.Raise()}
	case ItemUnrecorded:
		return Ask{c.Text, c.Do}
	case ItemCloneStopped:
		return Ask{"this clone is stopped by .liza/" + c.ID, c.Do}
	case ItemPaused:
		return Ask{c.ID + " is paused", board.ActOn("resume").With("task", c.ID).Hint()}
	case ItemBlocked:
		if c.Budget != nil {
			return Ask{c.Budget.String() + " and is BLOCKED", c.Budget.Raise()}
		}
		return Ask{c.ID + " is BLOCKED, and " + c.noPlanner(), board.ActOn("answer", c.ID).With("text", "TEXT").Hint()}
	case ItemReview:
		if c.Text != "" {
			return Ask{c.ID + " is in the review of " + phrase, board.ActOn("review", c.ID).With("diff", "").Hint()}
		}
		return Ask{c.ID + " waits for your review", board.ActOn("review", c.ID).With("diff", "").Hint()}
	case ItemQuorum:
		return Ask{c.ID + " needs " + text.Plural(c.Short, "more approval") + " than live reviewers can give", board.ActOn("show", c.ID).Hint()}
	case ItemReserved:
		return Ask{c.ID + " is kept for " + c.Agent + ", who is " + absent(c.Gone) + ", and " + c.noPlanner(), board.ActOn("reassign", c.ID).Hint()}
	case ItemEndedGoal:
		return Ask{c.ID + " " + endedGoal(c.Needed, c.Goal).String(), reopening(c.Goal)}
	case ItemLaterGoal:
		return Ask{c.ID + " " + laterGoal(c.Needed, c.Goal, c.Of).String(), DependOnOthers(c.ID)}
	case ItemNoPlan:
		if c.Left {
			return Ask{o.of(c.goal) + c.Agent + " planned nothing, and asked nothing", board.ActOn("logs", c.Agent).Hint()}
		}
		return Ask{o.of(c.goal) + "there is no task yet, and no planner", board.ActOn("add-task").With("help", "").Hint()}
	case ItemNoSpec:
		return Ask{o.of(c.goal) + "no planner is started without a specification, and integration has no " + cmp.Or(c.goal.SpecRef, board.UsualSpec), board.ActOn("start").Hint()}
	case ItemGoalOver:
		if c.goal.awaitsMerge {
			return Ask{o.of(c.goal) + "every task is finished: the merge of its pull request completes the goal", c.goal.offering()}
		}
		return Ask{o.of(c.goal) + "every task is finished: is the goal reached?", o.completing(c.goal)}
	case ItemDiscovery:
		return Ask{c.ID + " can't wait: " + phrase, board.ActOn("show", c.ID).Hint()}
	case ItemQuestion:
		return Ask{c.ID + " from " + c.Agent + ": " + phrase, board.ActOn("answer", c.ID).With("text", "TEXT").Hint()}
	case ItemAmbiguity:
		return Ask{c.ID + " by " + c.Agent + ": " + phrase, board.ActOn("ack", c.ID).Hint()}
	case ItemAgentGone:
		return Ask{c.ID + " gave up: " + phrase, board.ActOn("logs", c.ID).Hint()}
	case ItemNoAgent:
		name := c.ID
		if name == roles.CodeReviewer.Prefix() {
			name = "reviewer"
		}
		what := "a task waits for"
		switch n := len(c.Tasks); {
		case c.Merges && n == 1:
			what = c.Tasks[0] + " is approved and waits for its merge by"
		case c.Merges:
			what = strconv.Itoa(n) + " tasks are approved and wait for their merge by"
		case n > 1:
			what = strconv.Itoa(n) + " tasks wait for"
		}
		there := "there is none"
		if c.Agent != "" {
			there = c.Agent + " is silent for " + board.Span(o.Now.Sub(c.Heard))
		}
		return Ask{what + " a " + name + ", and " + there, board.ActOn("agent", c.ID).Hint()}
	}
	return Ask{}
}
