package alarm

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
)

// finding is a rule's finding, whether or not a threshold is reached.
type finding struct {
	about string     // distinguishes it from others of the same rule
	since board.Time // its beginning; steps count time from it, and another beginning is another finding
	n     int        // the number that steps compare
	words map[string]string
	do    board.Hint // the way out, if it is not the rule's
}

// ruleInput is a board as the rules read it.
type ruleInput struct {
	Facts
	live []board.Brief          // unfinished tasks, by id
	full map[string]*board.Task // those of live that anybody has worked on or proposed, or that are BLOCKED

	conditions []report.Condition
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
	outside := report.Outside{Leases: f.Leases, Stopped: f.Halts, Strays: f.Strays, SetBack: f.SetBack, Handled: f.Handled}
	e.conditions, _ = report.Conditions(f.State, outside, f.Now.Std()) // Evaluate returns the state's error
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

// of returns a rule's find for conditions of a kind.
func of(kind report.ItemKind) func(*ruleInput) []finding {
	return func(e *ruleInput) (all []finding) {
		for _, c := range e.conditions {
			if c.Kind == kind {
				all = append(all, e.sightOf(c))
			}
		}
		if len(all) > 0 && all[0].words["task"] != "" {
			sort.SliceStable(all, func(i, j int) bool { return all[i].about < all[j].about })
		}
		return all
	}
}

// sightOf is a condition with the words that rules use.
func (e *ruleInput) sightOf(c report.Condition) finding {
	words := map[string]string{"task": c.Task(), "agent": c.Agent, "id": c.ID, "reason": c.Text, "description": c.Text, "question": c.Text, "needed": c.Needed, "first": c.Of, "progress": c.Text, "text": c.Text, "n": fmt.Sprint(c.Short), "status": "not registered"}
	if a := e.State.Agent(c.Agent); a != nil {
		words["status"] = string(a.Status)
	}
	if g := c.Goal; g != nil {
		words["goal"], words["status"] = g.ID, string(g.Status)
	}
	if c.Kind == report.ItemNoAgent {
		n, noun, wait := len(c.Tasks), "task", " wait for a "
		if c.Plans > 0 {
			n, noun = c.Plans, "plan"
		}
		if n == 1 {
			wait = " waits for a "
		}
		words["what"], words["there"] = text.Plural(n, noun)+wait+c.ID, "there is none"
		if c.Agent != "" {
			words["there"] = c.Agent + " is silent"
		}
	}
	return finding{about: c.ID, since: c.Since, do: c.Do, words: words}
}

// left finds what a planner looked at and left, so that only the human continues.
func (e *ruleInput) left() (all []finding) {
	for _, c := range e.conditions {
		if c.Left && c.Task() != "" && c.For != "" {
			all = append(all, e.sightOf(c))
		}
	}
	return all
}

func (e *ruleInput) reassigned() (all []finding) {
	for _, b := range e.live {
		if t := e.full[b.ID]; t != nil {
			if since := t.SecondCoderSince(); since != "" {
				all = append(all, finding{about: b.ID, since: since, words: about(b.ID)})
			}
		}
	}
	return all
}

func (e *ruleInput) sameRejection() (all []finding) {
	for _, b := range e.live {
		if t := e.full[b.ID]; t != nil {
			if n, since := alike(t); n > 0 {
				all = append(all, finding{about: b.ID, since: since, n: n, words: about(b.ID, "n", fmt.Sprint(n))})
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

func (e *ruleInput) reviewLoop() (all []finding) {
	for _, b := range e.live {
		t := e.full[b.ID]
		if t == nil {
			continue
		}
		if n := cycles(t); n >= e.State.Config().ReviewCyclesFor(t) {
			all = append(all, finding{about: b.ID, words: about(b.ID, "n", fmt.Sprint(n))})
		}
	}
	return all
}

// cycles counts the review cycles of a task's work, or of a draft in the review of plans.
func cycles(t *board.Task) (n int) {
	if t.Status != board.Draft {
		return t.ReviewCyclesTotal
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
func tasks(meets func(board.Brief) bool) func(*ruleInput) []finding {
	return func(e *ruleInput) (all []finding) {
		for _, b := range e.live {
			if meets(b) {
				all = append(all, finding{about: b.ID, since: b.StatusChangedAt, words: about(b.ID)})
			}
		}
		return all
	}
}

func integrationFailed(b board.Brief) bool { return b.Status == board.IntegrationFailed }
func exhausted(b board.Brief) bool         { return b.Status == board.Blocked && b.Failures >= 2 }
func (e *ruleInput) nearLimit() (all []finding) {
	near := func(task, what, metric string) {
		all = append(all, finding{about: task + "/" + what, words: about(task, "metric", metric)})
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
func (e *ruleInput) budgets() (all []finding) {
	if e.over() {
		return nil
	}
	add := func(task string, b *board.Budget) {
		if b != nil {
			words := map[string]string{"task": task, "about": b.About, "used": fmt.Sprint(b.Used), "most": fmt.Sprint(b.Most), "key": b.Key}
			all = append(all, finding{about: b.Key + "/" + b.About, n: b.Percent(), words: words, do: b.Raise()})
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
func (e *ruleInput) stalled() []finding {
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
	return []finding{{since: since}}
}

func (e *ruleInput) invalid() []finding {
	if e.Invalid == "" {
		return nil
	}
	return []finding{{words: map[string]string{"error": e.Invalid}}}
}

func (e *ruleInput) checkpoint() []finding { return e.halted(board.CheckpointMode) }

func (e *ruleInput) pause() []finding { return e.halted(board.Paused) }

// halted finds a halt of the board or of this clone alone.
func (e *ruleInput) halted(mode board.Mode) (all []finding) {
	about := map[report.ItemKind]string{report.ItemStopped: "board", report.ItemCloneStopped: "clone"}
	for _, c := range e.conditions {
		if about[c.Kind] != "" && c.Mode == mode {
			s := finding{about: about[c.Kind], since: c.Since}
			if c.Kind == report.ItemCloneStopped {
				s.do = c.Do
			}
			all = append(all, s)
		}
	}
	return all
}

func (e *ruleInput) deadline() []finding {
	if e.over() {
		return nil
	}
	sp := e.State.Sprint()
	if due := sp.Timeline.Deadline; sp.Overdue(max(due, e.Now)) {
		return []finding{{about: sp.ID, since: due, words: map[string]string{"sprint": sp.ID}}}
	}
	return nil
}

func (e *ruleInput) rubberStamping() []finding {
	if e.over() {
		return nil
	}
	if m := report.Measure(e.State); m.RubberStamping() {
		return []finding{{words: map[string]string{"rate": fmt.Sprint(m.ApprovalRate)}}}
	}
	return nil
}

// breaker finds patterns, and a trigger that waits for a human although its pattern no longer
// holds.
func (e *ruleInput) breaker() (all []finding) {
	if e.over() {
		return nil
	}
	seen := func(pattern, severity string, since board.Time) {
		all = append(all, finding{about: pattern, since: since, words: map[string]string{"pattern": pattern, "severity": severity}})
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
