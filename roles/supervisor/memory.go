package supervisor

import (
	"fmt"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// The supervisor's delays and limits (protocol: agents, and how a supervisor reads exit codes).
const (
	restartDelay = 2 * time.Second // after exit 42
	crashDelay   = 5 * time.Second // after the first crash; doubling
	longestDelay = 5 * time.Minute
	crashWindow  = 5 * time.Minute // three crashes within it stop the supervisor
	crashLimit   = 3
	idleRuns     = 5 // runs in a row that changed nothing on the board stop it
	claimTries   = 3 // failed claims of one task, until it changes
	stallLimit   = 3 // runs of a claim or review that did something and handed nothing over
	planTries    = 2 // runs that should make the first plan and neither planned nor asked
	limitDelay   = time.Minute
	longestLimit = 30 * time.Minute
	mergeDelay   = 5 * time.Second

	longestClaimDelay = time.Hour // between tries of a claim that fails for another reason than a refusal
)

// graceful is the exit code of an agent that wants to be started afresh.
const graceful = 42

// Memory is what a supervisor remembers from step to step.
type Memory struct {
	Runs        int       // of the agent, all
	LastCrashed bool      // its last run ended in a crash
	IdleSince   time.Time // since when there has been no work; zero while there is
	NotBefore   time.Time // nothing is done before
	Why         string    // and why
	Crashes     []time.Time
	Delay       time.Duration // after the last crash
	Fruitless   int           // runs in a row that changed nothing on the board
	Limits      int           // quota or rate limits in a row
	Claims      map[string]Failed
	Merges      map[string]Failed
	Declined    map[string]string // the submission of each task that the agent gave back unjudged
	Stalled     map[string]Failed // runs of a task's claim or review, or of a planner (""), that came to nothing
	Overflows   int               // conversations in a row that were too long, or lost
	Unplanned   int               // runs for the first plan that planned nothing
	Setup       string            // what the CLI lacks to work at all, in its words; "" for nothing known
	Hint        string            // and what a human does about it
	Said        string            // the last line of the last run

	// Of a planner; kept across restarts of its supervisor.
	Seen       map[string]string // the mark of each trigger of a goal that was seen to its end
	Unfinished *report.Wake      // the wake-up whose run has not come to its end
	Assessed   map[string]string // by goal: the mark with which ALL_TERMINAL was seen, and nothing added
}

// Failed counts failures with one task.
type Failed struct {
	Times     int
	Mark      string // of the task then: failures before its last change don't count
	NotBefore time.Time
}

// mark is equal as long as nothing has happened to a task.
func mark(t *board.Task) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("%s %d", t.StatusChangedAt, len(t.History))
}

// Outcome is the end of an agent's run.
type Outcome struct {
	At        time.Time
	Role      roles.Role
	Exit      int
	Ours      bool         // the supervisor has ended it
	Cut       string       // the bound beyond which it ran, "" for none
	Task      string       // of a coder or reviewer
	Claim     string       // tells one claim or review of the task from another
	Running   bool         // the board was RUNNING
	Changed   bool         // the agent did something on the board
	Delivered bool         // and with that the task was out of its hands
	HandedOff bool         // by a hand-off
	Unplanned bool         // there is no task yet, and no question
	Lost      bool         // the conversation that it should have continued is not there any more
	Overflow  bool         // the conversation has become too long for the model
	Setup     string       // what the CLI lacks to work at all
	Hint      string       // and what a human does about it
	Said      string       // the last line of what it printed
	Wake      *report.Wake // of a planner
	Declined  *board.Task  // the submission that the agent gave back unjudged; nil for none
	Limited   bool         // by a quota or rate limit of its CLI
	Until     time.Time    // when the limit ends, zero when that's unknown
	Limit     string       // the CLI whose limit it is
}

// Learn draws the conclusions from the end of a run.
func (m *Memory) Learn(e Outcome) {
	m.Runs++
	m.NotBefore, m.Why, m.LastCrashed = e.At, "", false
	defer m.remember(e)
	if e.Declined != nil {
		m.decline(e.Declined)
	}
	m.Said = e.Said
	switch {
	case e.Setup != "":
		m.Setup, m.Hint = e.Setup, e.Hint
		return
	case e.Ours && (e.Cut == "" || budgeted(e.Cut) && e.Task != ""): // what the board says of a budget comes next
		return
	case e.Limited:
		m.limit(e)
		return
	}
	m.Limits = 0
	if e.Lost || e.Overflow && m.Overflows < planTries { // a fresh conversation is another matter
		m.Overflows++
		m.NotBefore, m.Why = e.At.Add(restartDelay), "it begins a new conversation in a moment"
		return
	}
	m.Overflows = 0
	if m.Fruitless++; e.Changed || e.Exit == 0 && e.Role == roles.Planner || e.Cut != "" {
		m.Fruitless = 0 // a planner that changes nothing is not woken by the same again
	}
	stalled := m.stalled(e)
	switch {
	case e.Unplanned && e.Exit == 0:
		m.Delay = 0
		if m.Unplanned++; m.Unplanned < planTries {
			m.NotBefore, m.Why = e.At.Add(crashDelay), "it planned nothing and asked nothing, and is started once more"
		}
	case stalled > 0 && stalled < stallLimit:
		m.Delay = 0
		delay := crashDelay << (stalled - 1)
		m.NotBefore, m.Why = e.At.Add(delay), fmt.Sprintf("it has handed nothing over (%d of %d), and is started again after %s", stalled, stallLimit, delay)
	case stalled > 0: // the next step is to give it up
	case e.Exit == 0 && (e.Changed || e.Role == roles.Planner):
		m.Delay = 0
	case e.Exit == 0 || e.Exit == graceful:
		m.Delay = 0
		m.NotBefore, m.Why = e.At.Add(restartDelay), "it continues in a moment"
	case e.Delivered: // a CLI that is ended by its own command has done its work all the same
		m.Delay = 0
	default:
		m.LastCrashed = true
		m.Crashes = append(m.recent(e.At), e.At)
		m.Delay = min(max(2*m.Delay, crashDelay), longestDelay)
		m.NotBefore, m.Why = e.At.Add(m.Delay), fmt.Sprintf("it has crashed (exit %d) and is started again after %s", e.Exit, m.Delay)
	}
}

// decline leaves a submission to other reviewers.
func (m *Memory) decline(t *board.Task) {
	if m.Declined == nil {
		m.Declined = map[string]string{}
	}
	m.Declined[t.ID] = t.ReviewCommit
}

// stalled counts a run that did something, or ran beyond a bound, and handed nothing over; 0 for any other run. A crash
// is counted as one.
func (m *Memory) stalled(e Outcome) int {
	if e.Delivered {
		delete(m.Stalled, e.Task)
		return 0
	}
	crashed := e.Cut == "" && e.Exit != 0 && e.Exit != graceful
	if crashed || e.Cut == "" && (e.Task == "" || !e.Changed || !e.Running || e.Declined != nil) {
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

// exhausted reports whether so many runs of a claim or a review handed nothing over that it is given up.
func (m *Memory) exhausted(task string) bool { return m.Stalled[task].Times >= stallLimit }

// limit waits for the end of a quota, or longer each time.
func (m *Memory) limit(e Outcome) {
	delay := min(limitDelay<<min(m.Limits, 10), longestLimit)
	m.Limits++
	until := e.At.Add(delay)
	if e.Until.After(e.At) {
		until = e.Until
	}
	m.NotBefore, m.Why = until, fmt.Sprintf("limit of %s, until %s", e.Limit, board.At(until))
}

// remember keeps of a planner's run what it has seen.
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
	m.Seen[seenAs(*e.Wake)] = e.Wake.Mark
	if e.Wake.Trigger == report.AllTerminal {
		if m.Assessed == nil {
			m.Assessed = map[string]string{}
		}
		m.Assessed[e.Wake.Goal] = e.Wake.Mark
	}
}

// seenAs is a trigger of a goal among those that were seen.
func seenAs(w report.Wake) string { return w.Goal + " " + string(w.Trigger) }

// wake is what a planner is started for by a goal: what it could not finish, else the first trigger not seen yet.
func (m *Memory) wake(goal string, stand []report.Wake) *report.Wake {
	if u := m.Unfinished; u != nil && u.Goal == goal {
		if u.Trigger == report.InitialPlanning {
			return u // the first plan may be half done: no trigger tells that
		}
		for _, w := range stand {
			if w.Trigger == u.Trigger {
				return &w
			}
		}
	}
	for _, w := range stand {
		if seen, once := m.Seen[seenAs(w)]; !once || seen != w.Mark {
			return &w
		}
	}
	return nil
}

// mayComplete reports whether the goal was assessed with every task over, and nothing has changed since.
func (m *Memory) mayComplete(stand []report.Wake) bool {
	for _, w := range stand {
		if mark, once := m.Assessed[w.Goal]; w.Trigger == report.AllTerminal && once && mark == w.Mark {
			return true
		}
	}
	return false
}

// Broken says why the supervisor must stop by itself, "" for not at all.
func (m *Memory) Broken(now time.Time) string {
	said := ""
	if m.Said != "" {
		said = ": " + m.Said
	}
	switch recent := len(m.recent(now)); {
	case m.Setup != "":
		return "the agent's CLI can't work: " + plain.Line(m.Setup, 300)
	case recent >= crashLimit:
		return fmt.Sprintf("the agent has crashed %d times within %s%s", recent, crashWindow, said)
	case m.exhausted(""):
		return fmt.Sprintf("the agent was ended %d times for a run beyond its bounds%s", m.Stalled[""].Times, said)
	case m.Fruitless >= idleRuns:
		return fmt.Sprintf("the agent was started %d times and did nothing on the board%s", m.Fruitless, said)
	}
	return ""
}

// recent are the crashes that still count.
func (m *Memory) recent(now time.Time) []time.Time {
	return slices.DeleteFunc(slices.Clone(m.Crashes), func(at time.Time) bool { return now.Sub(at) >= crashWindow })
}

// ClaimFailed counts a claim that was not made. After the last try a task whose claim was refused is left alone until
// it changes. Where something else failed (a full disk, a setup) it is tried again, ever later.
func (m *Memory) ClaimFailed(t *board.Task, refused bool, now time.Time) {
	m.Claims = again(m.Claims, t, time.Time{})
	if f := m.Claims[t.ID]; f.Times >= claimTries && !refused {
		f.NotBefore = now.Add(min(longestDelay<<min(f.Times-claimTries, 10), longestClaimDelay))
		m.Claims[t.ID] = f
	}
}

// givesUp reports whether taking a task has failed too often to be tried now.
func (m *Memory) givesUp(t *board.Task, now time.Time) bool {
	f := m.Claims[t.ID]
	return f.Times >= claimTries && f.Mark == mark(t) && (f.NotBefore.IsZero() || now.Before(f.NotBefore))
}

// MergeFailed counts a merge that failed for a passing reason, and puts the next try off.
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
