package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Inbox is everything that waits for a human, in full. What holds up most comes first; what a
// planner will look at comes last.
type Inbox struct {
	Time  board.Time `json:"time"` // of the newest operation
	Now   board.Time `json:"now"`
	Mode  board.Mode `json:"mode"`
	Items []Item     `json:"items"`
}

// ItemKind is the kind of a condition, and of the item that shows it.
type ItemKind string

// The kinds of items. Their order breaks ties between items that hold up equally many tasks.
const (
	ItemUnproven     ItemKind = "unproven"      // the board does not follow by replay
	ItemApart        ItemKind = "apart"         // this clone's board and the remote's have diverged
	ItemSetBack      ItemKind = "set_back"      // integration lacks the last landing
	ItemBreaker      ItemKind = "breaker"       // the circuit breaker has tripped
	ItemStopped      ItemKind = "stopped"       // the board is PAUSED or at CHECKPOINT
	ItemGoalStopped  ItemKind = "goal_stopped"  // a goal has used up its budget
	ItemCloneStopped ItemKind = "clone_stopped" // a file in .liza stops this clone
	ItemBlocked      ItemKind = "blocked"       // a BLOCKED task, with its questions
	ItemReview       ItemKind = "review"        // a submission for a human to review
	ItemQuorum       ItemKind = "quorum"        // a submission needs more approvals than live reviewers can give
	ItemReserved     ItemKind = "reserved"      // kept work, reserved for an absent coder
	ItemEndedGoal    ItemKind = "ended_goal"    // a task waits for one of a goal that was given up
	ItemLaterGoal    ItemKind = "later_goal"    // a task waits for one of a goal that comes after its own
	ItemDrafts       ItemKind = "drafts"        // a plan waits for approval; a condition is about one draft
	ItemPaused       ItemKind = "paused"        // a task is paused
	ItemNoAgent      ItemKind = "no_agent"      // work waits for a role that no agent has
	ItemAgentGone    ItemKind = "agent_gone"    // an agent gave up, or died holding work
	ItemNoPlan       ItemKind = "no_plan"       // there are no tasks, and no planner
	ItemNoSpec       ItemKind = "no_spec"       // there are no tasks, and no specification to plan by
	ItemQuestion     ItemKind = "question"      // a note for the human
	ItemAmbiguity    ItemKind = "ambiguity"     // an agent does not know what the protocol requires
	ItemDiscovery    ItemKind = "discovery"     // an urgent discovery, and there is no planner
	ItemGoalOver     ItemKind = "goal_over"     // every task is finished: is the goal reached?
	ItemAhead        ItemKind = "ahead"         // the goal is COMPLETED, and its work is not on the main branch
	ItemUnrecorded   ItemKind = "unrecorded"    // integration has a commit that the board does not record
)

// The kinds of conditions that are no items.
const (
	ItemProposed     ItemKind = "proposed"      // a proposed draft; an item of kind drafts
	ItemCoderGone    ItemKind = "coder_gone"    // a CLAIMED task, whose coder's lease expires
	ItemReviewerGone ItemKind = "reviewer_gone" // a task in review, whose reviewer's lease expires
	ItemOrphaned     ItemKind = "orphaned"      // a REJECTED task that its author does not take up
)

// itemKinds is the order of the kinds.
var itemKinds = []ItemKind{
	ItemUnproven, ItemApart, ItemSetBack, ItemUnrecorded, ItemBreaker, ItemStopped, ItemCloneStopped, ItemGoalStopped, ItemBlocked, ItemReview, ItemQuorum, ItemReserved, ItemEndedGoal, ItemLaterGoal, ItemDrafts,
	ItemPaused, ItemNoAgent, ItemAgentGone,
	ItemNoPlan, ItemNoSpec, ItemQuestion, ItemAmbiguity, ItemDiscovery, ItemGoalOver, ItemAhead,
}

// wholeBoard reports whether an item of this kind blocks the whole board.
func (k ItemKind) wholeBoard() bool {
	return k == ItemUnproven || k == ItemApart || k == ItemSetBack || k == ItemBreaker || k == ItemStopped || k == ItemCloneStopped
}

// asks reports whether somebody waits for an answer, which comes before work to look through.
func (k ItemKind) asks() bool { return k == ItemBlocked || k == ItemQuestion || k == ItemAmbiguity }

// wholeHistory reports whether a condition of this kind matters although no goal is worked on.
func (k ItemKind) wholeHistory() bool { return k == ItemUnproven || k == ItemApart || k == ItemSetBack }

// Item is one thing that waits for a human.
type Item struct {
	Kind      ItemKind   `json:"kind"`
	ID        string     `json:"id,omitempty"`      // of the task, note, anomaly, discovery, agent or goal
	Version   string     `json:"version,omitempty"` // of a blocked task, or of the halt, for --seen
	Title     string     `json:"title"`             // one line
	Name      string     `json:"name,omitempty"`    // of its task
	By        string     `json:"by,omitempty"`      // who asks, or who caused it
	Since     board.Time `json:"since,omitempty"`   // since when it has been waiting
	Holds     []string   `json:"holds"`             // the unfinished tasks that wait for it, itself included, by priority
	Turn      roles.Role `json:"turn"`              // human, or a planner that looks first
	Text      string     `json:"text,omitempty"`    // the full reason or message
	Questions []string   `json:"questions,omitempty"`
	Attempted []string   `json:"attempted,omitempty"`
	FailedBy  []string   `json:"failed_by,omitempty"` // coders whose attempts failed
	Evidence  []string   `json:"evidence,omitempty"`  // one line each
	Work      *Work      `json:"work,omitempty"`      // a task's work so far
	Drafts    []Draft    `json:"drafts,omitempty"`
	Lost      string     `json:"lost,omitempty"` // the task of an absent agent, if its worktree is in another clone
	Do        []Ask      `json:"do"`             // a human's options; the command that answers it is first
}

// HoldsUp lists the unfinished tasks that wait for it, without its own.
func (i Item) HoldsUp() []string {
	return slices.DeleteFunc(slices.Clone(i.Holds), func(task string) bool { return task == i.ID })
}

// Work is a task's work so far.
type Work struct {
	Branch    string `json:"branch"`
	Worktree  string `json:"worktree"`
	Coder     string `json:"coder,omitempty"`
	Iteration int    `json:"iteration,omitempty"`
	Submitted string `json:"submitted,omitempty"` // the last submitted commit
	Elsewhere bool   `json:"elsewhere,omitempty"` // the worktree is in another clone
}

// Draft is a task of a plan that waits for approval.
type Draft struct {
	ID        string     `json:"id"`
	Level     int        `json:"level"` // length of the longest chain of tasks to finish before it
	DependsOn []string   `json:"depends_on"`
	NeededBy  []string   `json:"needed_by"`
	Priority  int        `json:"priority"`
	Kind      board.Kind `json:"kind"`
	Created   board.Time `json:"created"`
	CreatedBy string     `json:"created_by"`
	Title     string     `json:"description"`
	DoneWhen  string     `json:"done_when"`
	Scope     string     `json:"scope"`
	SpecRef   string     `json:"spec_ref"`
	Warnings  []string   `json:"warnings"`
	Complete  board.Hint `json:"complete,omitzero"` // the act that adds what no gate lets it lack
	Version   string     `json:"version"`           // for --seen
}

// Ahead means that a finished goal's work is only on the integration branch.
type Ahead struct {
	Integration string `json:"integration"`
	Into        string `json:"into"`        // the branch that others start from
	Commits     int    `json:"commits"`     // on integration, and not on Into; 0 if Into has their content
	Tasks       int    `json:"tasks"`       // that are MERGED
	Landed      int    `json:"landed"`      // those of Tasks that Into has
	CheckedOut  bool   `json:"checked_out"` // the main worktree has Into checked out
}

// String is the distance in words.
func (a *Ahead) String() string {
	line := fmt.Sprintf("%s is %s ahead of %s", a.Integration, text.Plural(a.Commits, "commit"), a.Into)
	if a.Landed > 0 {
		line += fmt.Sprintf(", which has %d of %s", a.Landed, text.Plural(a.Tasks, "merged task"))
	}
	return line
}

// Take is the command line that brings the work there.
func (a *Ahead) Take() string {
	if a.CheckedOut {
		return "git merge " + a.Integration
	}
	return "git switch " + a.Into + " && git merge " + a.Integration
}

// Behind means that the main branch has moved on without integration.
type Behind struct {
	Integration string `json:"integration"`
	Into        string `json:"into"` // the branch that others start from
	Commits     int    `json:"commits"`
}

// Code is where the code is, compared with the main branch, each with the command that evens it.
func (o *Overview) Code() (lines []Ask) {
	if a := o.Ahead; a != nil && a.Commits == 0 {
		lines = append(lines, Ask{What: "your code: " + a.Into + " has all of " + a.Integration})
	} else if a != nil {
		lines = append(lines, Ask{"your code: " + a.String(), board.Advice("%s", a.Take())})
	}
	if b := o.Behind; b != nil {
		lines = append(lines, Ask{fmt.Sprintf("%s is %s behind %s", b.Integration, text.Plural(b.Commits, "commit"), b.Into), board.Advice("git liza land --merge %s", text.Quote(b.Into))})
	}
	return lines
}

// InboxOf lists what waits for a human at a given time. It returns an error if a record could not
// be read.
func InboxOf(s *board.State, outside Outside, now time.Time) (*Inbox, error) {
	o, err := Look(s, outside, now)
	if err != nil {
		return nil, err
	}
	c := &collector{s: s, o: o, outside: outside, waiting: waitingFor(o.Tasks)}
	for _, cond := range o.conditions {
		asks := cond.Kind == ItemQuestion || cond.Kind == ItemAmbiguity || cond.Kind.wholeHistory()
		if (o.GoalStatus == board.InProgress || asks) && cond.shown() {
			c.item(cond)
		}
	}
	if len(c.drafts) > 0 {
		c.plan()
	}
	if o.GoalStatus == board.Completed {
		c.ahead()
	}
	sort.SliceStable(c.items, func(i, j int) bool { return order(c.items[i], c.items[j]) < 0 })
	return &Inbox{Time: o.Time, Now: o.Now, Mode: o.Mode, Items: append([]Item{}, c.items...)}, s.Err()
}

// shown reports whether the inbox shows a condition: what waits for the human, tasks at which a
// planner looks first, and all absent agents.
func (c Condition) shown() bool {
	return c.For == roles.Human || c.For == roles.Planner && (c.Kind == ItemBlocked || c.Kind == ItemReserved) || c.Kind == ItemAgentGone
}

// order sorts by how much an item holds up; items that a planner looks at first come last.
func order(a, b Item) int {
	return cmp.Or(
		CompareBools(a.Turn == roles.Planner, b.Turn == roles.Planner),
		-CompareBools(a.Kind.wholeBoard(), b.Kind.wholeBoard()),
		-CompareBools(a.Kind.asks(), b.Kind.asks()),
		cmp.Compare(len(b.Holds), len(a.Holds)),
		cmp.Compare(slices.Index(itemKinds, a.Kind), slices.Index(itemKinds, b.Kind)),
		cmp.Compare(a.Since, b.Since),
	)
}

// CompareBools orders false before true.
func CompareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// waitingFor returns a function that lists, in the order of tasks, the unfinished tasks that wait
// for the given ones: these themselves and everything that depends on them, directly or not.
func waitingFor(tasks []TaskOutlook) func(ids ...string) []string {
	next := map[string][]string{}
	for _, t := range tasks {
		for _, d := range t.DependsOn {
			next[d] = append(next[d], t.ID)
		}
	}
	return func(ids ...string) []string {
		waits := map[string]bool{}
		var visit func(id string)
		visit = func(id string) {
			if !waits[id] {
				waits[id] = true
				for _, n := range next[id] {
					visit(n)
				}
			}
		}
		for _, id := range ids {
			visit(id)
		}
		held := []string{}
		for _, t := range tasks {
			if waits[t.ID] && !t.Status.Terminal() {
				held = append(held, t.ID)
			}
		}
		return held
	}
}

// collector gathers the items.
type collector struct {
	s       *board.State
	o       *Overview
	outside Outside
	waiting func(ids ...string) []string
	items   []Item
	drafts  []string // that wait for the human
}

func (c *collector) add(i Item) {
	i.Turn = cmp.Or(i.Turn, roles.Human)
	if i.Holds == nil {
		i.Holds = []string{}
	}
	c.items = append(c.items, i)
}

// unfinished lists the unfinished tasks of a goal, "" for all.
func (c *collector) unfinished(goal string) []string {
	ids := []string{}
	for _, t := range c.o.Tasks {
		if !t.Status.Terminal() && (goal == "" || t.Goal == goal) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// item adds the item of a condition.
func (c *collector) item(cond Condition) {
	line := c.o.line(cond)
	i := Item{Kind: cond.Kind, ID: cond.ID, Title: line.What, By: cond.Agent, Since: cond.Since, Turn: cond.For, Text: cond.Text}
	if b, known := c.s.BriefOf(cond.Task()); known {
		i.Name = b.Title
	}
	if i.Kind.wholeBoard() {
		i.Holds = c.unfinished("")
	} else if len(cond.Tasks) > 0 {
		i.Holds = c.waiting(cond.Tasks...)
	}
	switch cond.Kind {
	case ItemUnproven:
		i.Title, i.Do = c.o.Unproven.String(), []Ask{{"see what is wrong", Verify.Hint()}}
	case ItemApart:
		i.ID, i.Do = "", []Ask{{"see what to do", line.Do}}
	case ItemSetBack:
		i.Text = "Tasks are neither claimed nor merged until then. To undo landed work, revert it on top of integration."
		i.Do = []Ask{{"bring it back", line.Do}}
	case ItemUnrecorded:
		i.Text, i.Do = "", []Ask{{"look at it", line.Do}}
	case ItemBreaker, ItemStopped:
		c.stop(&i, cond)
	case ItemGoalStopped:
		i.Text, i.Holds = cond.goal.Text, c.unfinished(cond.ID)
		i.Do = []Ask{{"raise it", line.Do}, {"give the goal up", board.ActOn("goal-abort", cond.ID).Hint()}}
	case ItemCloneStopped:
		i.ID, i.Do = "", []Ask{{"continue", line.Do}}
	case ItemPaused:
		i.Do = []Ask{{"continue", line.Do}}
	case ItemBlocked:
		c.blocked(&i, cond)
	case ItemReview:
		c.review(&i)
	case ItemQuorum:
		i.Text, i.Evidence, i.Do = "", []string{cond.Text}, []Ask{{"see all of it", line.Do}}
	case ItemProposed, ItemDrafts:
		c.drafts = append(c.drafts, cond.ID)
		return
	case ItemReserved:
		i.Title, i.By, i.Work = cond.ID+" is reserved for "+cond.Agent+", which is "+absent(cond.Gone), "", c.workOf(c.s.Task(cond.ID))
		i.Do = []Ask{{"let any coder continue", line.Do}, {"start that coder", board.ActOn("agent", "coder").With("id", cond.Agent).Hint()}}
	case ItemEndedGoal:
		i.By, i.Do = cond.Goal.EndedBy, []Ask{{"take that goal up again", line.Do}, {"let it wait for others", DependOnOthers(cond.ID)}}
	case ItemLaterGoal:
		i.Text, i.Do = "each of the two goals waits for the other", []Ask{{"let it wait for others", line.Do}}
	case ItemNoAgent:
		i.ID, i.Since, i.Do = "", "", []Ask{{"start one", line.Do}}
	case ItemAgentGone:
		c.gone(&i, cond)
	case ItemNoPlan:
		i.Text, i.Do = cond.goal.Text, []Ask{{"start a planner", board.ActOn("agent", "planner").Hint()}, {"plan by hand", line.Do}}
		if cond.Left {
			i.Do = []Ask{{"read what it said", line.Do}, {"let it plan again", board.ActOn("note").With("for", cond.Agent, "message", "TEXT").Hint()}, {"plan by hand", board.ActOn("add-task").With("help", "").Hint()}}
		}
	case ItemNoSpec:
		i.Text, i.Do = cond.goal.Text, []Ask{{"take the goal's text", line.Do}, {"bring a committed file to integration", board.ActOn("land").With("spec", cmp.Or(cond.goal.SpecRef, board.UsualSpec)).Hint()}}
	case ItemGoalOver:
		i.Text, i.Evidence = cond.goal.Text, ContinuedElsewhere(c.s, cond.ID)
		i.Do = []Ask{{"it is", line.Do}, {"it is not", board.ActOn("add-task").With("help", "").Hint()}}
		if cond.goal.awaitsMerge {
			i.Do[0].What = "offer it, or sync its pull request"
		}
		if cond.goal.Request != "" {
			i.Evidence = append(i.Evidence, "pull request: "+cond.goal.Request)
		}
	case ItemDiscovery:
		d := c.s.Discovery(cond.ID)
		i.By, i.Evidence = d.By, evidenceOf(d)
		i.Do = []Ask{{"make it a task", board.ActOn("convert-discovery", cond.ID).With("task", "TASK").Hint()}, {"put it off", board.ActOn("settle-discovery", cond.ID).With("defer", "", "reason", "TEXT").Hint()}}
	case ItemQuestion:
		i.Do = []Ask{{"answer", line.Do}, {"nothing to say", board.ActOn("ack", cond.ID).Hint()}}
	case ItemAmbiguity:
		a := c.s.Anomaly(cond.ID)
		i.Evidence = []string{AnomalyLine(a)}
		i.Do = []Ask{{"reply", board.ActOn("note").With("message", "TEXT", "for", cmp.Or(a.Task, a.Reporter)).Hint()}, {"dealt with", line.Do}}
	}
	c.add(i)
}

// stop completes the item of a board that is stopped, by its breaker or otherwise.
func (c *collector) stop(i *Item, cond Condition) {
	o := c.o
	i.Version, i.Do = board.HaltVersion(c.s), []Ask{{"continue", board.ActOn("resume").Hint()}}
	if cond.Budget != nil {
		i.Do = append([]Ask{{cond.Budget.String() + "; raise it", cond.Budget.Raise()}}, i.Do...)
	}
	if o.Mode == board.CheckpointMode {
		i.Do = []Ask{{"continue", board.ActOn("resume").With("decision", "CONTINUE").Hint()}, {"look back first", board.ActOn("sprint-show").With("summary", "").Hint()}}
	}
	if i.Kind == ItemStopped {
		i.Title, i.By = "the board is "+string(o.Mode), o.ModeBy
		return
	}
	i.Title, i.By = "the circuit breaker has tripped: "+o.Breaker.Pattern+" ("+o.Breaker.Severity+")", string(roles.System)
	i.Evidence = c.evidence(o.Breaker)
	i.Do = append([]Ask{{"write down what you decided", board.ActOn("resolve").With("text", "TEXT").Hint()}}, i.Do...)
}

// evidence lists the anomalies that form the pattern of a trigger.
func (c *collector) evidence(t *board.Trigger) []string {
	var lines []string
	for _, p := range board.FindPatterns(c.s) {
		if p.Pattern != t.Pattern {
			continue
		}
		if p.Common != "" {
			lines = append(lines, "common factor: "+p.Common)
		}
		for _, id := range p.Anomalies {
			if a := c.s.Anomaly(id); a != nil {
				lines = append(lines, AnomalyLine(a))
			}
		}
	}
	if t.ReportFile != "" {
		lines = append(lines, "report: "+t.ReportFile)
	}
	return lines
}

// AnomalyLine is an anomaly with its details in one line.
func AnomalyLine(a *board.Anomaly) string {
	line := a.ID + " " + a.Type + " by " + a.Reporter
	if a.Task != "" {
		line += " on " + a.Task
	}
	for _, name := range slices.Sorted(maps.Keys(a.Details)) {
		line += "; " + name + ": " + string(a.Details[name])
	}
	return line
}

// plan adds the drafts that a human has to finalize or review.
func (c *collector) plan() {
	drafts := c.drafts
	title := strconv.Itoa(len(drafts)) + " drafts: review the plan"
	if len(drafts) == 1 {
		title = drafts[0] + " is a DRAFT"
	}
	proposed := slices.ContainsFunc(drafts, func(id string) bool {
		b, _ := c.s.BriefOf(id)
		return b.Plan == board.PlanProposed
	})
	if proposed {
		title = "a plan waits for your review: " + text.Plural(len(drafts), "draft")
	}
	i := Item{Kind: ItemDrafts, Title: title, Holds: c.waiting(drafts...), Drafts: Drafts(c.s, drafts, c.outside.NoSpecDrafts)}
	for _, d := range i.Drafts {
		if i.Since == "" || d.Created < i.Since {
			i.Since, i.By = d.Created, d.CreatedBy
		}
	}
	one := "ID"
	if len(drafts) == 1 {
		one = drafts[0]
	}
	i.Do = append(Completing(i.Drafts), Ask{"approve", Finalizing(drafts)}, Ask{"change one", board.ActOn("amend-task", one).With("done_when", "TEXT").Hint()})
	if proposed {
		i.Do = append(i.Do, Ask{"back to the planner", board.ActOn("reject-draft", one).With("reason", "TEXT").Hint()})
	}
	c.add(i)
}

// Completing is the command that completes the first draft that can't be finalized as it is; none
// if there is no such draft.
func Completing(drafts []Draft) []Ask {
	for _, d := range drafts {
		if d.Complete.Text != "" {
			return []Ask{{"complete it first", d.Complete}}
		}
	}
	return nil
}

// Filling is the act that adds the missing fields of a draft.
func Filling(id string, missing []string) board.Act {
	act := board.ActOn("amend-task", id)
	for _, field := range missing {
		example := "TEXT"
		if field == "spec_ref" {
			example = "FILE"
		}
		act = act.With(field, example)
	}
	return act
}

// Finalizing is the act that opens drafts to coders.
func Finalizing(drafts []string) board.Hint {
	if len(drafts) == 1 {
		return board.ActOn("finalize", drafts[0]).Hint()
	}
	return board.ActOn("finalize").With("all", "").Hint()
}

// blocked completes the item of a BLOCKED task.
func (c *collector) blocked(i *Item, cond Condition) {
	t := c.s.Task(i.ID)
	if t == nil { // s.Err reports it
		return
	}
	i.Title = t.ID + " is BLOCKED: " + text.Line(cmp.Or(t.BlockedReason, "no reason is given"), maxReason)
	i.Version, i.Questions, i.Attempted = t.Version(), t.BlockedQuestions, t.Attempted
	i.FailedBy, i.Work = t.FailedBy, c.workOf(t)
	if e := t.Last(board.EventBlocked); e != nil {
		i.By = e.Agent
	}
	if f := t.Last(board.EventIntegrationFailed); f != nil && t.ReviewCommit != "" {
		i.Evidence = append(i.Evidence, strings.TrimSpace("the merge failed: "+f.Reason+" "+strings.Join(f.Files, ", ")))
	}
	if t.Rejection != nil {
		i.Evidence = append(i.Evidence, "last rejection: "+t.Rejection.Brief())
	}
	if spent := cond.Budget; spent != nil {
		i.Evidence = append(i.Evidence, spent.String())
		i.Do = append(i.Do, Ask{"raise its budget", spent.Raise()})
	}
	if len(t.FailedBy) >= 2 && !board.Reframed(c.s, t) {
		i.Do = append(i.Do, Ask{"two attempts failed: change what it asks for first", board.ActOn("amend-task", t.ID).With("done_when", "TEXT", "reason", "TEXT").Hint()})
	}
	i.Do = append(i.Do, Ask{"answer", board.ActOn("answer", t.ID).With("text", "TEXT").Hint()}, Ask{"see all of it", board.ActOn("show", t.ID).Hint()})
}

// review completes the item of a submission that a human reviews, because review_by asks for it or
// a human has claimed the review.
func (c *collector) review(i *Item) {
	i.Do = []Ask{{"look at it", board.ActOn("review", i.ID).With("diff", "").Hint()}}
	t := c.s.Task(i.ID)
	if t == nil {
		return
	}
	i.By, i.Text, i.Work = t.AssignedTo, t.Description, c.workOf(t)
	if progress := board.ProgressOf(c.s, t).String(); progress != "" {
		i.Evidence = append(i.Evidence, progress)
	}
	switch other := c.outside.otherReviewer(t); {
	case t.ReviewingBy == "":
		i.Do = append(i.Do, Ask{"take it", board.ActOn("claim-review", t.ID).Hint()})
	case other != "":
		i.Do = append(i.Do, Ask{"take it over", board.ActOn("claim-review", t.ID).Hint()})
	default:
		i.Title, i.Evidence = t.ID+" is in your review", append(i.Evidence, "taken by "+t.ReviewingAs)
		i.Do = append(i.Do, Ask{"approve", board.ActOn("verdict", t.ID).With("verdict", board.VerdictApproved, "commit", t.ReviewCommit).Hint()},
			Ask{"reject", board.Rejecting(t).Hint()})
	}
}

// workOf is a task's work so far, nil if there is none.
func (c *collector) workOf(t *board.Task) *Work {
	if t == nil || t.Worktree == "" {
		return nil
	}
	w := &Work{Branch: c.s.TaskBranches().Of(t.ID), Worktree: t.Worktree, Coder: t.AssignedTo, Iteration: t.Iteration, Submitted: t.ReviewCommit,
		Elsewhere: c.outside.elsewhere(t.Clone)}
	if e := t.Last(board.EventReady); e != nil {
		w.Submitted = cmp.Or(w.Submitted, e.Commit)
	}
	return w
}

// gone completes the item of an absent agent.
func (c *collector) gone(i *Item, cond Condition) {
	agent, tasks := cond.ID, cond.Tasks
	i.Title, i.Do = agent+" is "+absent(cond.Gone), []Ask{{"see what it did", c.traceOf(agent, tasks)}}
	free := Ask{"go on without it", board.ActOn("recover-agent", agent).Hint()}
	if cond.For == roles.Human {
		i.Title = agent + " gave up"
		i.Do = append(i.Do, Ask{"start it again", board.ActOn("agent", roles.NameOf(agent)).With("id", agent).Hint()})
	}
	if len(tasks) > 0 {
		i.Title += ", with " + strings.Join(tasks, ", ") + " in hand"
		free.What = "give back what it held"
	}
	if i.Lost = c.lost(tasks); i.Lost != "" {
		free = Ask{"if that clone is lost, give it back", board.ActOn("release", i.Lost).With("role", "coder", "reason", "TEXT").Hint()}
		i.Title += ", in another clone"
	}
	i.Do = append(i.Do, free)
}

// traceOf is the command that shows an agent's work: its transcript, or, if that is in another
// clone, the story of its task.
func (c *collector) traceOf(agent string, tasks []string) board.Hint {
	if a := c.s.Agent(agent); a != nil && c.outside.elsewhere(a.Clone) && len(tasks) > 0 {
		return board.ActOn("show", tasks[0]).Hint()
	}
	return board.ActOn("logs", agent).Hint()
}

// lost returns the first of the tasks that is CLAIMED with a worktree in another clone, where
// recover-agent is refused. It returns "" if there is none.
func (c *collector) lost(tasks []string) string {
	for _, id := range tasks {
		if t := c.s.Task(id); t != nil && t.Status == board.Claimed && c.outside.elsewhere(t.Clone) {
			return id
		}
	}
	return ""
}

func evidenceOf(d *board.Discovery) []string {
	lines := []string{"severity " + d.Severity}
	if d.During != "" {
		lines[0] += ", found during " + d.During
	}
	if d.Recommendation != "" {
		lines = append(lines, "recommended: "+d.Recommendation)
	}
	return lines
}

// ahead adds the work of a finished goal that is not on the main branch.
func (c *collector) ahead() {
	a := c.o.Ahead
	if a == nil || a.Commits == 0 {
		return
	}
	i := Item{Kind: ItemAhead, Title: "the goal is COMPLETED: " + a.String(),
		Text: c.o.Goal, Since: c.o.Progress, Do: []Ask{{"take it there", board.Advice("%s", a.Take())}, {"look at it first", board.Advice("git log %s..%s", a.Into, a.Integration)}}}
	for _, g := range c.s.Goals() {
		if g.PullRequest.Live() {
			i.Evidence = append(i.Evidence, "pull request: "+g.PullRequest.String())
		}
	}
	c.add(i)
}

// ToFinalize lists the drafts that an actor may be asked to finalize: a reviewer of plans, or a
// human, those that are proposed; a planner the others, if plans are reviewed.
func ToFinalize(s *board.State, who board.Actor) []string {
	by, drafts := s.Team().PlanReviewer(), Unfinalized(s)
	var proposed, others []string
	for _, id := range drafts {
		if b, _ := s.BriefOf(id); b.Plan == board.PlanProposed {
			proposed = append(proposed, id)
		} else {
			others = append(others, id)
		}
	}
	switch {
	case who.Role == roles.CodeReviewer && by != roles.NameOf(who.ID):
		return nil
	case who.Role == roles.CodeReviewer, who.Role == roles.Human && len(proposed) > 0:
		return proposed
	case who.Role == roles.Planner && by != "":
		return others
	}
	return drafts
}

// Unfinalized lists the tasks that are DRAFT, in the board's order.
func Unfinalized(s *board.State) []string {
	var ids []string
	for _, b := range s.Tasks() {
		if b.Status == board.Draft {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// Drafts describes tasks of a plan, in the order in which they can begin; noSpec are those whose
// specification is not on integration.
func Drafts(s *board.State, ids, noSpec []string) []Draft {
	tasks := s.Tasks()
	drafts := []Draft{}
	for _, n := range GraphOf(tasks).Nodes {
		if !slices.Contains(ids, n.ID) {
			continue
		}
		t := s.Task(n.ID)
		if t == nil { // s.Err reports it
			continue
		}
		d := Draft{ID: t.ID, Version: t.Version(), Level: n.Level, DependsOn: append([]string{}, t.DependsOn...), NeededBy: []string{}, Priority: t.Priority, Kind: t.Kind, Created: t.Created, CreatedBy: t.CreatedBy,
			Title: t.Description, DoneWhen: t.DoneWhen, Scope: t.Scope, SpecRef: t.SpecRef, Warnings: []string{}}
		if why := sentBack(t); why != "" {
			d.Warnings = append(d.Warnings, why)
		}
		missing := board.Missing(t.Definition())
		if len(missing) > 0 {
			d.Warnings = append(d.Warnings, "it can't be finalized: it has no "+strings.Join(missing, ", "))
		}
		if slices.Contains(noSpec, t.ID) {
			d.Warnings, missing = append(d.Warnings, "it can't be finalized: "+t.SpecRef+" is not on integration"), append(missing, "spec_ref")
		}
		if len(missing) > 0 {
			d.Complete = Filling(t.ID, missing).Hint()
		}
		d.Warnings = append(d.Warnings, board.Warnings(t.Definition())...)
		for _, b := range tasks {
			if slices.Contains(b.DependsOn, t.ID) {
				d.NeededBy = append(d.NeededBy, b.ID)
			}
		}
		drafts = append(drafts, d)
	}
	return drafts
}
