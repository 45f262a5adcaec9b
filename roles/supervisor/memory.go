package supervisor

import (
	"fmt"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// The supervisor's delays and limits (see the protocol on agents, and on how a supervisor reads
// exit codes). Every delay is a bound: Look.paused names the events that end it before.
const (
	restartDelay = 2 * time.Second // after exit 42 without a change on the board
	crashDelay   = 5 * time.Second // after the second crash or fruitless run of several, doubled each time
	longestDelay = 5 * time.Minute
	crashWindow  = 5 * time.Minute // crashLimit crashes within it stop the supervisor
	crashLimit   = 3
	idleRuns     = 5 // runs in a row without a change on the board that stop it
	claimTries   = 3 // failed claims of one task until it changes
	stallLimit   = 3 // runs of a claim or review that did something but handed nothing over
	planTries    = 2 // runs for the first plan that neither planned nor asked
	limitDelay   = time.Minute
	longestLimit = 30 * time.Minute
	mergeDelay   = 5 * time.Second

	longestClaimDelay = time.Hour // between claims that fail for other reasons than a refusal
)

// graceful is the exit code of an agent that asks for a fresh start.
const graceful = 42

// Memory is a supervisor's state between steps.
type Memory struct {
	Runs        int       // of the agent, in total
	LastCrashed bool      // its last run ended in a crash
	IdleSince   time.Time // since when there has been no work, zero if there is some
	NotBefore   time.Time // the next step waits until this time
	Why         string    // the reason for NotBefore
	While       string    // NotBefore counts while the board or its settings have this mark; "" for always
	Crashes     []time.Time
	Fruitless   int // runs in a row without a change on the board
	Limits      int // quota or rate limits in a row
	Claims      map[string]Failed
	ClaimsUnder string // the settings, see settingsOf, under which those failed
	Merges      map[string]Failed
	Declined    map[string]string // by task: the submission that the agent gave back unjudged
	Stalled     map[string]Failed // fruitless runs of a claim or review, or of a planner ("")
	Overflows   int               // conversations in a row that were too long or lost
	Unplanned   int               // runs for the first plan without a plan
	Setup       string            // the CLI's missing requirement, in its words; "" if unknown
	Hint        string            // how a human fixes that
	Said        string            // the last line of the last run

	// For planners; kept when the supervisor restarts.
	Seen       map[string]string // by goal and trigger: the mark of the last one handled
	Unfinished *report.Wake      // the wake-up whose run was interrupted
	Assessed   map[string]string // by goal: the mark at which ALL_TERMINAL added no work
}

// Failed counts failures with one task.
type Failed struct {
	Times     int
	Mark      string // of the task then: failures before its last change don't count
	NotBefore time.Time
}

// mark stays the same while a task is unchanged.
func mark(t *board.Task) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("%s %d", t.StatusChangedAt, len(t.History))
}

// Outcome describes the end of an agent's run.
type Outcome struct {
	At        time.Time
	Role      roles.Role
	Exit      int
	Ours      bool         // the supervisor ended it
	Cut       string       // the bound that it exceeded, "" for none
	Task      string       // of a coder or reviewer
	Claim     string       // identifies one claim or review of the task
	Running   bool         // the board was RUNNING
	Changed   bool         // the agent did something on the board
	Delivered bool         // and that took the task out of its hands
	HandedOff bool         // by a hand-off
	Unplanned bool         // no task exists yet, and no question was asked
	Lost      bool         // the conversation to continue no longer exists
	Overflow  bool         // the conversation is too long for the model
	Setup     string       // the CLI's missing requirement
	Hint      string       // how a human fixes that
	Said      string       // the last line of its output
	Wake      *report.Wake // of a planner
	Declined  *board.Task  // the submission given back unjudged, nil for none
	Limited   bool         // by a quota or rate limit of its CLI
	Until     time.Time    // when the limit ends, zero if unknown
	Limit     string       // of which CLI, or what else it waits for
	Settings  string       // the mark of the board's settings, see settingsOf
}

// Learn draws conclusions from the end of a run.
func (m *Memory) Learn(e Outcome) {
	m.Runs++
	m.NotBefore, m.Why, m.While, m.LastCrashed = e.At, "", e.Settings, false
	defer m.remember(e)
	if e.Declined != nil {
		m.decline(e.Declined)
	}
	m.Said = e.Said
	switch {
	case e.Setup != "":
		m.Setup, m.Hint = e.Setup, e.Hint
		return
	case e.Ours && (e.Cut == "" || budgeted(e.Cut) && e.Task != ""): // the board decides next
		return
	case e.Limited:
		m.limit(e)
		return
	}
	m.Limits = 0
	if e.Lost || e.Overflow && m.Overflows < planTries { // a fresh conversation may work
		m.Overflows++
		m.Why = "it begins a new conversation"
		return
	}
	m.Overflows = 0
	if m.Fruitless++; e.Changed || e.Exit == 0 && e.Role == roles.Planner || e.Cut != "" {
		m.Fruitless = 0 // the same trigger won't wake an idle planner again
	}
	stalled := m.stalled(e)
	switch {
	case e.Unplanned && e.Exit == 0:
		if m.Unplanned++; m.Unplanned < planTries {
			m.Why = "it planned nothing and asked nothing, and is started once more"
		}
	case e.crashed():
		m.LastCrashed = true
		m.Crashes = append(m.recent(e.At), e.At)
		delay := delayOf(len(m.Crashes))
		m.NotBefore, m.Why = e.At.Add(delay), fmt.Sprintf("it has crashed (exit %d) and is started again%s", e.Exit, after(delay))
	case stalled > 0 && stalled < stallLimit:
		delay := delayOf(stalled)
		m.NotBefore, m.Why = e.At.Add(delay), fmt.Sprintf("it has handed nothing over (%d of %d), and is started again%s", stalled, stallLimit, after(delay))
		if m.afresh(e.Task) {
			m.Why += ", in a new conversation"
		}
	case stalled > 0: // the next step gives it up
	case e.Changed || e.Exit == 0 && e.Role == roles.Planner:
	case e.Exit == 0 || e.Exit == graceful:
		m.NotBefore, m.Why = e.At.Add(restartDelay), "it continues in a moment"
	default: // a CLI ended by its own command has still done its work
	}
}

// delayOf is the wait after a failure, by its number among the recent ones. The first failure needs no wait.
func delayOf(failures int) time.Duration {
	if failures < 2 {
		return 0
	}
	return crashDelay << (failures - 2)
}

func after(delay time.Duration) string {
	if delay == 0 {
		return ""
	}
	return " after " + delay.String()
}

// pause lets the next step wait until a time, while the board or its settings have a mark.
func (m *Memory) pause(until time.Time, why, while string) {
	m.NotBefore, m.Why, m.While = until, why, while
}

// decline leaves a submission to other reviewers.
func (m *Memory) decline(t *board.Task) {
	if m.Declined == nil {
		m.Declined = map[string]string{}
	}
	m.Declined[t.ID] = t.ReviewCommit
}

// crashed reports whether the agent failed by itself.
func (e Outcome) crashed() bool {
	return e.Cut == "" && e.Exit != 0 && e.Exit != graceful && !e.Delivered
}

// stalled counts a run that ended well, did something or exceeded a bound, but handed nothing over,
// and returns the count. It returns 0 for any other run. A crash after minutes of work counts too, since
// crashLimit is for quick ones.
func (m *Memory) stalled(e Outcome) int {
	ends := e.Task == "" && e.Cut == "" && !e.crashed() // a planner has no work to hand over
	if e.Delivered || ends {
		delete(m.Stalled, e.Task)
		return 0
	}
	if e.Cut == "" && (!e.Changed && (e.Task == "" || e.Exit != 0) || !e.Running || e.Declined != nil) {
		return 0
	}
	if m.Stalled == nil {
		m.Stalled = map[string]Failed{}
	}
	f := m.Stalled[e.Task]
	if f.Mark != e.Claim {
		f = Failed{Mark: e.Claim}
	}
	f.Times++
	m.Stalled[e.Task] = f
	return f.Times
}

// exhausted reports whether so many runs handed nothing over that the claim or review is given up.
func (m *Memory) exhausted(task string) bool { return m.Stalled[task].Times >= stallLimit }

// afresh reports whether the next run on a task should not continue the conversation of the earlier
// ones, which led to nothing: it is the last one before the task is given up.
func (m *Memory) afresh(task string) bool { return m.Stalled[task].Times == stallLimit-1 }

// limit waits until the quota ends, or if that is unknown, longer each time.
func (m *Memory) limit(e Outcome) {
	delay := min(limitDelay<<min(m.Limits, 10), longestLimit)
	m.Limits++
	until := e.At.Add(delay)
	if e.Until.After(e.At) {
		until = e.Until
	}
	m.NotBefore, m.Why = until, fmt.Sprintf("%s, until %s", e.Limit, clockTime(until, e.At))
}

// clockTime is a time of the next day in UTC, or with its date if it is later.
func clockTime(at, now time.Time) string {
	if at.Sub(now) < 20*time.Hour {
		return at.UTC().Format("15:04Z")
	}
	return string(board.At(at))
}

// remember keeps which trigger a planner's run has handled.
func (m *Memory) remember(e Outcome) {
	if e.Wake == nil {
		return
	}
	if e.Ours || e.HandedOff || e.Limited || e.Exit != 0 || e.Unplanned && m.Unplanned < planTries {
		m.Unfinished = e.Wake
		return
	}
	m.Unfinished = nil
	if m.Seen == nil {
		m.Seen = map[string]string{}
	}
	m.Seen[e.Wake.Key()] = e.Wake.Mark
	if e.Wake.Trigger == report.AllTerminal {
		if m.Assessed == nil {
			m.Assessed = map[string]string{}
		}
		m.Assessed[e.Wake.Goal] = e.Wake.Mark
	}
}

// wake is the wake-up to start a planner with for a goal: the unfinished one, or else the first
// trigger not handled yet.
func (m *Memory) wake(goal string, open []report.Wake) *report.Wake {
	if u := m.Unfinished; u != nil && u.Goal == goal {
		if u.Trigger == report.InitialPlanning {
			return u // no trigger shows that the first plan is half done
		}
		for _, w := range open {
			if w.Trigger == u.Trigger {
				return &w
			}
		}
	}
	for _, w := range open {
		if seen, once := m.Seen[w.Key()]; !once || seen != w.Mark {
			return &w
		}
	}
	return nil
}

// mayComplete reports whether a goal was assessed with all tasks finished, and is unchanged.
func (m *Memory) mayComplete(open []report.Wake) bool {
	for _, w := range open {
		if mark, once := m.Assessed[w.Goal]; w.Trigger == report.AllTerminal && once && mark == w.Mark {
			return true
		}
	}
	return false
}

// Broken returns the reason for the supervisor to stop, "" if there is none.
func (m *Memory) Broken(now time.Time) string {
	said := ""
	if m.Said != "" {
		said = ": " + m.Said
	}
	switch recent := len(m.recent(now)); {
	case m.Setup != "":
		return "the agent's CLI can't work: " + text.Line(m.Setup, 300)
	case recent >= crashLimit:
		return fmt.Sprintf("the agent has crashed %d times within %s%s", recent, crashWindow, said)
	case m.exhausted(""):
		return fmt.Sprintf("%d runs of the agent went beyond its bounds, or did something and crashed%s", m.Stalled[""].Times, said)
	case m.Fruitless >= idleRuns:
		return fmt.Sprintf("the agent was started %d times and did nothing on the board%s", m.Fruitless, said)
	}
	return ""
}

// recent returns the crashes within crashWindow.
func (m *Memory) recent(now time.Time) []time.Time {
	return slices.DeleteFunc(slices.Clone(m.Crashes), func(at time.Time) bool { return now.Sub(at) >= crashWindow })
}

// ClaimFailed counts a failed claim. After claimTries failures, a task whose claim was refused is
// left alone until it changes. A claim that failed for another reason (a full disk, a setup) is
// retried at growing intervals.
func (m *Memory) ClaimFailed(t *board.Task, settings string, refused bool, now time.Time) {
	if m.ClaimsUnder != settings {
		m.Claims, m.ClaimsUnder = nil, settings
	}
	m.Claims = again(m.Claims, t, time.Time{})
	if f := m.Claims[t.ID]; f.Times >= claimTries && !refused {
		f.NotBefore = now.Add(min(longestDelay<<min(f.Times-claimTries, 10), longestClaimDelay))
		m.Claims[t.ID] = f
	}
}

// givesUp reports whether a task has failed too often to be claimed now.
func (m *Memory) givesUp(t *board.Task, now time.Time) bool {
	f := m.Claims[t.ID]
	return f.Times >= claimTries && f.Mark == mark(t) && (f.NotBefore.IsZero() || now.Before(f.NotBefore))
}

// mergeAgain is when to merge a task after failures, zero if none counts.
func (m *Memory) mergeAgain(t *board.Task) time.Time {
	if f, failed := m.Merges[t.ID]; failed && f.Mark == mark(t) {
		return f.NotBefore
	}
	return time.Time{}
}

// MergeFailed counts a merge that failed for a passing reason, and delays the next attempt.
func (m *Memory) MergeFailed(t *board.Task, now time.Time) {
	times := 0
	if f := m.Merges[t.ID]; f.Mark == mark(t) {
		times = f.Times
	}
	m.Merges = again(m.Merges, t, now.Add(min(mergeDelay<<min(times, 10), longestDelay)))
}

func again(all map[string]Failed, t *board.Task, notBefore time.Time) map[string]Failed {
	if all == nil {
		all = map[string]Failed{}
	}
	f := all[t.ID]
	if f.Mark != mark(t) {
		f = Failed{Mark: mark(t)}
	}
	f.Times++
	f.NotBefore = notBefore
	all[t.ID] = f
	return all
}
