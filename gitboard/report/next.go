package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Caller is who asks for next steps.
type Caller struct {
	board.Asker
	Supervised bool            // its supervisor claims and merges for it
	Busy       map[string]bool // tasks whose coders go on working in this clone, whatever their leases
	NoSpec     []string        // drafts whose specification is not on integration
}

// Next lists what a caller may do now, the most sensible step first: steps with the task it asked
// about, then with its own work, then with what waits for its role. All steps are legal. There is
// always one; the last step only reads.
func Next(s *board.State, who Caller, about string) []board.NextStep {
	n := &next{s: s.ForRules(), who: who} // also on a damaged board: hints of refusals use it
	if about != "" && !n.on(about, "") && who.Role == roles.Human {
		n.read(about)
	}
	if a := s.Agent(who.ID); a != nil && a.Session != who.Session {
		n.board("register", "another session has this id, and its lease has expired")
	}
	switch who.Role {
	case roles.Coder:
		n.coder()
	case roles.CodeReviewer:
		n.reviewer()
	default:
		n.planner()
	}
	n.read(about)
	return n.steps
}

type next struct {
	s     *board.State
	who   Caller
	steps []board.NextStep
}

// advances lists the operations by which each role advances a task, best first. Giving work up is
// not among them.
var advances = map[roles.Role][]string{
	roles.Coder:        {"submit", "pre-exec", "claim", "withdraw", "claim-review", "verdict"},
	roles.CodeReviewer: {"claim-review", "verdict", "merge"},
	roles.Planner:      {"finalize", "answer", "unblock", "reassign", "amend-task"},
	roles.Human:        {"resume", "finalize", "answer", "unblock", "reassign", "amend-task"},
}

// reasons explain why a step comes next.
var reasons = map[string]string{
	"submit": "when the work is committed; COMMAND is your validation", "pre-exec": "before the first commit", "withdraw": "to work on it again", "merge": "approved",
	"answer": "it asks", "amend-task": "to change what it asks for",
}

func (n *next) add(step board.NextStep) {
	if n.who.Supervised && board.TakesOnWork(step.Do.Name) || slices.ContainsFunc(n.steps, func(has board.NextStep) bool { return has.Do.Equal(step.Do) }) {
		return
	}
	n.steps = append(n.steps, step)
}

// on adds the best step that the caller may take with a task, and reports whether there is one.
func (n *next) on(task, why string) bool {
	legal := board.StepsOn(n.s, n.who.Asker, task)
	for _, op := range advances[n.who.Role] {
		i := slices.IndexFunc(legal, func(step board.NextStep) bool { return step.Do.Name == op })
		if i < 0 || !n.sensible(op, task) {
			continue
		}
		step := legal[i]
		if step.Why = why; why == "" {
			step.Why = n.reason(op, task)
		}
		if op == "verdict" { // the review shows how to give it
			step = board.NextStep{Task: task, Why: "you review it", Do: board.ActOn("review", task)}
		}
		if t := n.s.Task(task); op == "amend-task" && slices.Contains(n.who.NoSpec, task) {
			step.Why, step.Do = t.SpecRef+" is not on integration", Filling(task, append(board.Missing(t.Definition()), "spec_ref"))
		}
		n.add(step)
		return true
	}
	return false
}

// reason explains why an operation on a task comes next, "" if it needs no reason.
func (n *next) reason(op, task string) string {
	if t := n.s.Task(task); op == "claim" && t.Status == board.Rejected && t.AssignedTo == n.who.ID {
		return "rejected, and yours"
	}
	return reasons[op]
}

// sensible excludes steps that are legal but lead nowhere.
func (n *next) sensible(op, task string) bool {
	t := n.s.Task(task)
	switch op {
	case "submit":
		return t.CheckpointOfIteration() != nil
	case "answer":
		return len(t.BlockedQuestions) > 0
	case "finalize":
		return t.DoneWhen != "" && t.Scope != "" && t.SpecRef != "" && !slices.Contains(n.who.NoSpec, task)
	case "amend-task":
		return t.Status != board.Unclaimed
	case "reassign":
		return t.Status == board.Unclaimed && n.s.Agent(t.ReservedFor) == nil
	}
	return true
}

// first adds the best step with the first task of a kind that allows one.
func (n *next) first(why string, is func(board.Brief) bool) bool {
	for _, b := range n.s.Tasks() {
		if is(b) && n.on(b.ID, why) {
			return true
		}
	}
	return false
}

func (n *next) takeable(holder string, b board.Brief) bool {
	l, has := n.who.Leases[holder]
	after := l.Expires
	if b.Status == board.Rejected {
		after = l.FreeAt(board.AbandonedAfter)
	}
	return !n.who.Busy[b.ID] && (!has || n.s.Agent(holder) == nil || after <= max(n.who.Now, n.s.Time()))
}

// leaves adds giving up a task that the caller holds although its goal ended, and reports whether
// there is one. While no other goal is worked on, it has no use; and a supervisor does it for its
// agent.
func (n *next) leaves(holds func(board.Brief) bool) bool {
	if n.who.Supervised || len(n.s.Running()) == 0 {
		return false
	}
	for _, b := range n.s.Tasks() {
		if !n.s.HasEnded(b.Goal) || !holds(b) {
			continue
		}
		step, legal := board.StepOf(n.s, n.who.Asker, "release", b.ID)
		if step.Why = b.Goal + " is " + string(n.s.Goal(b.Goal).Status) + ", and other goals go on"; legal {
			n.add(step)
			return true
		}
	}
	return false
}

func (n *next) coder() {
	me := n.who.ID
	if n.leaves(func(b board.Brief) bool { return b.Holds(me) }) {
		return
	}
	if n.first("", func(b board.Brief) bool {
		return b.Holds(me) || b.Status == board.ReadyForReview && b.ReviewingBy == me
	}) {
		return
	}
	for _, id := range n.claimable() {
		why := "claimable"
		if chain := board.Chains(n.s.Tasks())(id); chain > 0 {
			why = fmt.Sprintf("claimable, with a chain of %d behind it", chain)
		}
		if n.on(id, cmp.Or(n.reason("claim", id), why)) {
			return
		}
	}
	n.reviewable()
}

// claimable lists tasks that the coder may claim, best first. Idle coders of a role get different
// ones, and a coder does not get back first what it handed off while another one is idle.
func (n *next) claimable() (ids []string) {
	me, rank, others := n.who.ID, 0, 0
	for _, id := range n.s.List(board.AgentDir) {
		if a := n.s.Agent(id); a != nil && id != me && roles.NameOf(id) == roles.NameOf(me) && (a.CurrentTask == "" || a.Status == board.Waiting) && n.who.Leases[id].Expires > n.who.Now {
			if others++; id < me {
				rank++
			}
		}
	}
	taken, left := map[string]bool{}, []string{}
	for len(ids) <= rank {
		id := board.NextClaim(n.s, me, func(id string) bool { return taken[id] }, n.takeable)
		if id == "" {
			break
		}
		taken[id] = true
		switch t := n.s.Task(id); {
		case t.Status == board.Rejected && t.AssignedTo == me:
			return []string{id}
		case t.HandoffPending && t.AssignedTo == me && others > 0:
			left = append(left, id)
		default:
			ids = append(ids, id)
		}
	}
	slices.Reverse(ids) // the one at the caller's rank first
	return append(ids, left...)
}

func (n *next) reviewer() {
	me := n.who.ID
	reviews := func(b board.Brief) bool { return b.Status == board.ReadyForReview && b.ReviewingBy == me }
	if n.leaves(reviews) || n.first("", reviews) {
		return
	}
	n.first("you approved it", func(b board.Brief) bool { return b.Status == board.Approved && b.ApprovedBy == me })
	n.reviewable()
	n.first("approved", func(b board.Brief) bool { return b.Status == board.Approved })
	n.drafts()
}

// reviewable adds the submission that the caller should review next.
func (n *next) reviewable() {
	skip := map[string]bool{}
	for {
		id := board.NextReview(n.s, n.who.ID, func(id string) bool { return skip[id] }, n.takeable)
		if id == "" || n.on(id, "waits for a review") {
			return
		}
		skip[id] = true
	}
}

// planner adds the steps of a planner, and of a human, who may also plan.
func (n *next) planner() {
	if n.who.Role == roles.Human {
		n.board("resolve", "the circuit breaker tripped")
		n.board("resume", "the board is "+string(n.s.Control().Mode))
	}
	if n.who.Role == roles.Planner {
		n.woken()
	}
	n.first("blocked", func(b board.Brief) bool { return b.Status == board.Blocked })
	n.first("", func(b board.Brief) bool { return b.Status == board.Unclaimed && b.ReservedFor != "" })
	n.drafts()
	if n.who.Role == roles.Planner && len(n.s.Running()) > 0 {
		n.discovered(n.s.List(board.DiscoveryDir)...)
	}
	n.unplanned()
	n.board("goal-complete", "every task is finished; if the goal is reached")
}

// unplanned adds the definition of a task where a goal has none, or has given up all of them.
func (n *next) unplanned() {
	for _, g := range n.s.Running() {
		switch given := n.s.TasksOf(g.ID); {
		case !n.s.Planned(g):
			n.board("add-task", "there is no task yet")
			return
		case g.Archived == 0 && !slices.ContainsFunc(given, func(b board.Brief) bool { return b.Status != board.Abandoned }):
			n.board("add-task", "every task of "+g.ID+" is abandoned")
			return
		}
	}
}

// woken adds the steps for what wakes a planner and is not about a task.
func (n *next) woken() {
	for _, w := range WakesOf(n.s, n.who.ID) {
		switch w.Trigger {
		case Replan:
			n.add(board.NextStep{Why: "once the plan follows it", Do: board.ActOn("ack", w.About...)})
		case ImmediateDiscovery:
			n.discovered(w.About...)
		}
	}
}

// discovered adds the steps that take up open discoveries.
func (n *next) discovered(ids ...string) {
	for _, id := range ids {
		if d := n.s.Discovery(id); d != nil && d.Open() {
			n.add(board.NextStep{Why: d.Urgency + ": add a task and convert it, or git liza settle-discovery " + id, Do: board.ActOn("convert-discovery", id).With("task", "TASK")})
		}
	}
}

// board adds a step without a task.
func (n *next) board(op, why string) bool {
	id := ""
	if op == "add-task" {
		id = "task-1"
	}
	step, legal := board.StepOf(n.s, n.who.Asker, op, id)
	if step.Why = why; legal {
		n.add(step)
	}
	return legal
}

// drafts adds one step that finalizes all drafts that pass their gates, one for the first that does
// not, and one for each that the reviewer of the plan sent back and that are unchanged.
func (n *next) drafts() {
	var ids []string
	for _, id := range ToFinalize(n.s, n.who.Actor) {
		if why := sentBack(n.s.Task(id)); why != "" && n.who.Role == roles.Planner {
			if step, legal := board.StepOf(n.s, n.who.Asker, "amend-task", id); legal {
				step.Why = why
				n.add(step)
			}
			continue
		}
		if _, legal := board.StepOf(n.s, n.who.Asker, "finalize", id); legal && !slices.Contains(n.who.NoSpec, id) {
			ids = append(ids, id)
		} else if len(ids) == 0 {
			n.on(id, "a draft that lacks something")
		}
	}
	if len(ids) > 0 {
		n.add(board.NextStep{Why: "draft", Do: board.ActOn("finalize", ids...)})
	}
}

// sentBack describes who rejected a draft and why, "" if it was not rejected, or changed since.
func sentBack(t *board.Task) string {
	if t == nil || len(t.History) == 0 {
		return ""
	}
	if e := t.History[len(t.History)-1]; e.Event == board.EventDraftRejected {
		return "sent back by " + e.Author() + ": " + text.Line(e.Reason, 120)
	}
	return ""
}

// read adds a command that only reads: the story of the task in question, or the caller's
// situation.
func (n *next) read(about string) {
	do := board.NextStep{Why: "nothing waits for you now", Do: board.ActOn("prime")}
	if n.who.Role == roles.Human {
		do = board.NextStep{Do: board.ActOn("status")}
	}
	if len(n.steps) > 0 {
		do.Why = ""
	}
	if about != "" && n.who.Role == roles.Human && n.s.Task(about) != nil {
		do = board.NextStep{Task: about, Do: board.ActOn("show", about)}
	}
	n.add(do)
}
