package alarm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// sight is a rule's finding, whether or not a threshold is reached.
type sight struct {
	about string     // distinguishes it from others of the same rule
	since board.Time // its beginning; steps count time from it, and another beginning is another sight
	n     int        // the number that steps compare
	words map[string]string
	do    string // the command for Do, if it is not the rule's
}

// ruleInput is a board as the rules read it.
type ruleInput struct {
	Facts
	live []board.Brief          // unfinished tasks, by id
	full map[string]*board.Task // those of live that anybody has worked on or proposed, or that are BLOCKED
}

func newRuleInput(f Facts) *ruleInput {
	e := &ruleInput{Facts: f, full: map[string]*board.Task{}}
	if f.Invalid != "" || f.State.Control().Mode == board.Aborted { // the run is over
		return e
	}
	for _, b := range f.State.Tasks() {
		if b.Status.Terminal() {
			continue
		}
		e.live = append(e.live, b)
		if b.Tally.Iterations > 0 || b.Status == board.Blocked || b.Plan != "" {
			if t := f.State.Task(b.ID); t != nil {
				e.full[b.ID] = t
			}
		}
	}
	slices.SortFunc(e.live, func(a, b board.Brief) int { return cmp.Compare(a.ID, b.ID) })
	return e
}

// over reports whether there is no run to judge.
func (e *ruleInput) over() bool { return e.Invalid != "" || e.State.Control().Mode == board.Aborted }

func about(task string, more ...string) map[string]string {
	words := map[string]string{"task": task}
	for i := 0; i < len(more); i += 2 {
		words[more[i]] = more[i+1]
	}
	return words
}

// gone is since when an agent has been gone: the expiry of its lease, or else_ without a known one.
func (e *ruleInput) gone(agent string, else_ board.Time) board.Time {
	if l, held := e.Leases[agent]; held && e.State.Agent(agent) != nil {
		return l.Expires
	}
	return else_
}

func (e *ruleInput) expired() (all []sight) {
	for _, b := range e.live {
		if b.Status == board.Claimed && !b.HandoffPending {
			all = append(all, sight{about: b.ID, since: e.gone(b.AssignedTo, b.StatusChangedAt), words: about(b.ID, "agent", b.AssignedTo)})
		}
	}
	return all
}

func (e *ruleInput) reviewExpired() (all []sight) {
	for _, b := range e.live {
		if b.Status == board.ReadyForReview && b.ReviewingBy != "" && b.ReviewingBy != roles.HumanID {
			all = append(all, sight{about: b.ID, since: e.gone(b.ReviewingBy, b.Moved), words: about(b.ID, "agent", b.ReviewingBy)})
		}
	}
	return all
}

// quorum finds submissions whose review policy asks for more approvals of agents than those that
// are alive may give. A policy that asks for one by any reviewer is no case for it.
func (e *ruleInput) quorum() (all []sight) {
	for _, b := range e.live {
		t := e.full[b.ID]
		if b.Status != board.ReadyForReview || b.Paused || t == nil || t.ReviewingBy != "" {
			continue
		}
		progress := board.ProgressOf(e.State, t)
		if progress.Policy.Quorum() == 1 && !progress.Policy.Required && len(progress.Policy.By) == 0 || e.State.Config().ReviewBy == "human" {
			continue
		}
		missing := progress.Missing()
		if progress.AwaitsHuman() || slices.Contains(progress.Policy.By, roles.HumanID) {
			missing-- // a human can give one
		}
		if short := missing - e.reviewersFor(t); short > 0 {
			all = append(all, sight{about: b.ID, since: b.Moved, n: short, words: about(b.ID, "progress", cmp.Or(progress.String(), "no approval"), "n", fmt.Sprint(short))})
		}
	}
	return all
}

// reviewersFor counts the live agents that may still approve a submission.
func (e *ruleInput) reviewersFor(t *board.Task) int {
	return len(slices.DeleteFunc(board.ReviewersOf(e.State, t), func(id string) bool { return e.gone(id, e.Now) <= e.Now }))
}

func (e *ruleInput) blocked() (all []sight) {
	for _, b := range e.live {
		if t := e.full[b.ID]; t != nil && t.Status == board.Blocked {
			all = append(all, sight{about: b.ID, since: b.StatusChangedAt, words: about(b.ID, "reason", t.BlockedReason)})
		}
	}
	return all
}

func (e *ruleInput) waitsForEnded() (all []sight) {
	for _, b := range e.live {
		if needed, g := report.WaitsForEnded(e.State, b); g != nil {
			words := about(b.ID, "needed", needed, "goal", g.ID, "status", string(g.Status))
			all = append(all, sight{about: b.ID, since: g.Ended, words: words, do: report.WayOutOfEnded(b.ID, g)})
		}
	}
	return all
}

func (e *ruleInput) waitsForLater() (all []sight) {
	for _, b := range e.live {
		if needed, g := report.WaitsForLater(e.State, b); g != nil {
			words := about(b.ID, "needed", needed, "goal", g.ID, "first", b.Goal)
			all = append(all, sight{about: b.ID, since: b.Moved, words: words})
		}
	}
	return all
}

// maxUntaken is how many tasks without an agent are counted.
const maxUntaken = 100

// noAgent finds the roles that have work and no live agent.
func (e *ruleInput) noAgent() (all []sight) {
	if e.over() || e.Leases == nil {
		return nil
	}
	for _, d := range report.Demands(e.State, e.Leases, e.Now, maxUntaken) {
		role := d.Role
		if role.Kind == board.PlannerKind || len(d.Live)+len(d.ByHand) > 0 || len(d.Left) == 0 {
			continue
		}
		since := e.Now
		for _, id := range d.Left {
			since = min(since, e.waitingSince(id))
		}
		for _, id := range e.State.List(board.AgentDir) {
			if roles.NameOf(id) == role.Name {
				since = max(since, e.gone(id, since)) // until then there was an agent
			}
		}
		noun := "task"
		if e.State.Goal(d.Left[0]) != nil {
			noun = "plan"
		}
		what := text.Plural(len(d.Left), noun)
		if len(d.Left) == 1 {
			what += " waits for a "
		} else {
			what += " wait for a "
		}
		words := map[string]string{"what": what + role.Name, "role": role.Name}
		all = append(all, sight{about: role.Name, since: since, words: words})
	}
	return all
}

// waitingSince is since when a task, or a goal's plan, waits for an agent.
func (e *ruleInput) waitingSince(work string) board.Time {
	if b, ok := e.State.BriefOf(work); ok {
		return b.StatusChangedAt
	}
	since := e.Now
	for _, b := range e.State.TasksOf(work) {
		if b.Plan == board.PlanProposed {
			since = min(since, b.Moved)
		}
	}
	return since
}

func (e *ruleInput) orphaned() (all []sight) {
	for _, b := range e.live {
		if b.Status != board.Rejected || b.Freed {
			continue
		}
		// An author working on another task takes this one up afterwards; an idle one should have
		// claimed it.
		status, since := "not registered", b.StatusChangedAt
		if a := e.State.Agent(b.AssignedTo); a != nil {
			status = string(a.Status)
			if a.Status == board.Working {
				since = e.gone(b.AssignedTo, since)
			}
		}
		all = append(all, sight{about: b.ID, since: since, words: about(b.ID, "agent", b.AssignedTo, "status", status)})
	}
	return all
}

func (e *ruleInput) reserved() (all []sight) {
	for _, b := range e.live {
		if b.Status == board.Unclaimed && b.ReservedFor != "" {
			all = append(all, sight{about: b.ID, since: max(b.StatusChangedAt, e.gone(b.ReservedFor, b.StatusChangedAt)), words: about(b.ID, "agent", b.ReservedFor)})
		}
	}
	return all
}

func (e *ruleInput) reassigned() (all []sight) {
	for _, b := range e.live {
		if t := e.full[b.ID]; t != nil {
			if since := t.SecondCoderSince(); since != "" {
				all = append(all, sight{about: b.ID, since: since, words: about(b.ID)})
			}
		}
	}
	return all
}

func (e *ruleInput) sameRejection() (all []sight) {
	for _, b := range e.live {
		if t := e.full[b.ID]; t != nil {
			if n, since := alike(t); n > 0 {
				all = append(all, sight{about: b.ID, since: since, n: n, words: about(b.ID, "n", fmt.Sprint(n))})
			}
		}
	}
	return all
}

// alike counts a task's latest rejections that each resemble the one before, and returns the time
// of the first of them.
func alike(t *board.Task) (n int, since board.Time) {
	newer, submission := "", t.Submissions()
	for _, e := range slices.Backward(t.History) {
		if e.Event == board.EventReady {
			submission--
		}
		if e.Event != board.EventRejected {
			continue
		}
		line := substance(e.Rejection)
		for _, c := range t.CommentsOn(submission) {
			line += " " + text.Line(c.Text, 200)
		}
		if n > 0 && !text.Similar(line, newer) {
			break
		}
		n, since, newer = n+1, e.Time, line
	}
	return n, since
}

// substance is the content of a rejection.
func substance(r *board.Rejection) string {
	if r == nil {
		return ""
	}
	if len(r.Blockers) == 0 {
		return text.Line(r.Overall, 1000)
	}
	var issues []string
	for _, f := range r.Blockers {
		issues = append(issues, f.Issue)
	}
	return text.Line(strings.Join(issues, " "), 1000)
}

func (e *ruleInput) reviewLoop() (all []sight) {
	for _, b := range e.live {
		t := e.full[b.ID]
		if t == nil {
			continue
		}
		if n := cycles(t); n >= e.State.Config().ReviewCyclesFor(t) {
			all = append(all, sight{about: b.ID, words: about(b.ID, "n", fmt.Sprint(n))})
		}
	}
	return all
}

// cycles counts the review cycles of a task's work, or of a draft in the review of plans.
func cycles(t *board.Task) (n int) {
	if t.Status != board.Draft {
		return t.ReviewCyclesCurrent
	}
	for _, e := range t.History {
		if e.Event == board.EventDraftRejected {
			n++
		}
	}
	return n
}

// tasks returns a rule's find for live tasks that meet a condition, since they entered their
// status.
func tasks(meets func(board.Brief) bool) func(*ruleInput) []sight {
	return func(e *ruleInput) (all []sight) {
		for _, b := range e.live {
			if meets(b) {
				all = append(all, sight{about: b.ID, since: b.StatusChangedAt, words: about(b.ID)})
			}
		}
		return all
	}
}

func integrationFailed(b board.Brief) bool { return b.Status == board.IntegrationFailed }
func exhausted(b board.Brief) bool         { return b.Status == board.Blocked && b.Failures >= 2 }
func draft(b board.Brief) bool {
	return b.Status == board.Draft && b.Plan != board.PlanProposed
}

func (e *ruleInput) unreviewed() (all []sight) {
	for _, b := range e.live {
		if b.Plan == board.PlanProposed {
			all = append(all, sight{about: b.ID, since: b.Moved, words: about(b.ID)})
		}
	}
	return all
}

func (e *ruleInput) nearLimit() (all []sight) {
	near := func(task, what, metric string) {
		all = append(all, sight{about: task + "/" + what, words: about(task, "metric", metric)})
	}
	for _, b := range e.live {
		t := e.full[b.ID]
		if t == nil || b.Status == board.Blocked { // BLOCKED because it reached a limit
			continue
		}
		if most := e.State.Config().IterationsFor(t); b.Iteration*100 >= nearIterations*most {
			near(b.ID, "iterations", fmt.Sprintf("iteration %d of %d", b.Iteration, most))
		}
		if most := e.State.Config().ReviewCyclesFor(t); b.ReviewCycles*100 >= nearCycles*most && b.ReviewCycles < most {
			near(b.ID, "cycles", fmt.Sprintf("review cycle %d of %d", b.ReviewCycles, most))
		}
		if b.Failures == 1 && b.ReviewCycles >= cyclesAfterFail {
			near(b.ID, "failures", fmt.Sprintf("%d review cycles after a coder's failure", b.ReviewCycles))
		}
	}
	return all
}

// budgets finds the budgets of unfinished tasks, of the sprint and of the goals.
func (e *ruleInput) budgets() (all []sight) {
	if e.over() {
		return nil
	}
	add := func(task string, b *board.Budget) {
		if b != nil {
			words := map[string]string{"task": task, "about": b.About, "used": fmt.Sprint(b.Used), "most": fmt.Sprint(b.Most), "key": b.Key}
			all = append(all, sight{about: b.Key + "/" + b.About, n: b.Percent(), words: words, do: cmdline.Hint(b.Raise())})
		}
	}
	c := e.State.Config()
	if c.BudgetTaskTokens > 0 {
		for _, b := range e.live {
			if t := e.full[b.ID]; t != nil {
				add(b.ID, board.TaskBudget(c, t))
			}
		}
	}
	for _, b := range board.BoardBudgets(c, e.State.Sprint(), e.State.Running()) {
		add("", &b)
	}
	return all
}

// stalled applies only while the run may proceed. It starts again when a human resumes the board,
// and when a goal begins or is reopened.
func (e *ruleInput) stalled() []sight {
	if e.over() || len(e.State.Running()) == 0 || e.State.Control().Mode != board.Running {
		return nil
	}
	since := max(board.LastProgress(e.State), e.State.Control().Since)
	for _, g := range e.State.Running() {
		since = max(since, g.Created, g.Reopened)
		if before := e.State.Goal(g.After); before != nil {
			since = max(since, before.Ended)
		}
	}
	return []sight{{since: since}}
}

func (e *ruleInput) discoveries() (all []sight) {
	if e.over() {
		return nil
	}
	for _, id := range e.State.List(board.DiscoveryDir) {
		if d := e.State.Discovery(id); d != nil && d.Pressing() {
			all = append(all, sight{about: id, since: d.Created, words: map[string]string{"id": id, "description": d.Description}})
		}
	}
	return all
}

func (e *ruleInput) ambiguities() (all []sight) {
	if e.over() {
		return nil
	}
	for _, id := range e.State.List(board.AnomalyDir) {
		if a := e.State.Anomaly(id); a != nil && a.Type == "system_ambiguity" && a.AcknowledgedBy == "" {
			all = append(all, sight{about: id, since: a.Timestamp, words: map[string]string{"id": id, "question": string(a.Details["question"])}})
		}
	}
	return all
}

func (e *ruleInput) invalid() []sight {
	if e.Invalid == "" {
		return nil
	}
	return []sight{{words: map[string]string{"error": e.Invalid}}}
}

func (e *ruleInput) unrecorded() (all []sight) {
	for _, s := range e.Strays {
		all = append(all, sight{about: s.Commit, words: map[string]string{"text": s.Text, "commit": s.Commit}})
	}
	return all
}

func (e *ruleInput) setBack() []sight {
	if e.SetBack == nil {
		return nil
	}
	return []sight{{words: map[string]string{"text": e.SetBack.Text}, do: cmdline.Hint(e.SetBack.Do)}}
}

func (e *ruleInput) checkpoint() []sight { return e.halted(board.CheckpointMode) }

func (e *ruleInput) pause() []sight { return e.halted(board.Paused) }

// halted finds a halt of the board or of this clone alone.
func (e *ruleInput) halted(mode board.Mode) (all []sight) {
	if e.over() {
		return nil
	}
	if c := e.State.Control(); c.Mode == mode {
		all = append(all, sight{about: "board", since: c.Since})
	}
	for _, h := range e.Halts {
		if h.Mode == mode {
			all = append(all, sight{about: "clone", since: h.Since, do: "take .liza/" + h.File + " away"})
		}
	}
	return all
}

func (e *ruleInput) deadline() []sight {
	if e.over() {
		return nil
	}
	sp := e.State.Sprint()
	if due := sp.Timeline.Deadline; sp.Overdue(max(due, e.Now)) {
		return []sight{{about: sp.ID, since: due, words: map[string]string{"sprint": sp.ID}}}
	}
	return nil
}

func (e *ruleInput) rubberStamping() []sight {
	if e.over() {
		return nil
	}
	if m := report.Measure(e.State); m.RubberStamping() {
		return []sight{{words: map[string]string{"rate": fmt.Sprint(m.ApprovalRate)}}}
	}
	return nil
}

// breaker finds patterns, and a trigger that waits for a human although its pattern no longer
// holds.
func (e *ruleInput) breaker() (all []sight) {
	if e.over() {
		return nil
	}
	seen := func(pattern, severity string, since board.Time) {
		all = append(all, sight{about: pattern, since: since, words: map[string]string{"pattern": pattern, "severity": severity}})
	}
	trigger := e.State.Breaker().CurrentTrigger
	for _, p := range board.FindPatterns(e.State) {
		seen(p.Pattern, p.Severity, e.State.Anomaly(p.Anomalies[0]).Timestamp)
		if trigger != nil && trigger.Pattern == p.Pattern {
			trigger = nil
		}
	}
	if trigger != nil {
		seen(trigger.Pattern, trigger.Severity, trigger.Timestamp)
	}
	return all
}
