package supervisor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// Team is several supervisors in one process.
type Team struct {
	Board   *gitboard.Board
	Members []Config                          // they wait as long as the team
	Hire    func(*board.Role) (Config, error) // makes members of a team that sizes itself; nil for one of Members
	Fetch   func(context.Context) error       // fetches a shared board for a team that sizes itself
	Over    map[string]board.Time             // the goals that had ended before the start, see Over
	Report  func(Event)
}

// team is a running team.
type team struct {
	Team
	end context.CancelCauseFunc

	mu    sync.Mutex
	begun bool              // a member was registered: the team has been able to work
	proof *proof            // of the operations that the members look at
	pace  *pace             // of the members' fetches
	live  map[int]bool      // members that are running
	agent map[int]string    // the id of each member that is registered, or about to be
	idle  map[int]time.Time // since when a member has been waiting for lack of work
	again *time.Timer       // checks whether the team has waited too long

	// Of a team that sizes itself.
	coming map[string]int  // members that are not registered yet
	failed map[string]int  // members that gave up
	most   map[string]int  // how many a role may have
	byHand map[string]bool // the agents that reportByHand has reported
	since  time.Time       // when the last member ended, or the team began
	left   chan struct{}   // a member ended
	deaths *deaths         // of agents of other processes
	done   chan struct{}   // closed once no goal is in progress
	over   func()
}

// RunTeam runs a team until no goal is in progress, no member can continue, or the context ends. It
// returns nil if the goals that it served are COMPLETED, and otherwise a *StopError with the status
// of each.
func RunTeam(ctx context.Context, c Team) error {
	ctx, end := context.WithCancelCause(ctx)
	t := &team{
		Team: c, end: end, proof: &proof{}, pace: &pace{}, live: map[int]bool{}, agent: map[int]string{}, idle: map[int]time.Time{},
		coming: map[string]int{}, failed: map[string]int{}, most: map[string]int{}, byHand: map[string]bool{},
		left: make(chan struct{}, 1), done: make(chan struct{}), deaths: newDeaths(),
	}
	defer t.deaths.stop()
	defer end(nil)
	t.over = sync.OnceFunc(func() { close(t.done) })
	if c.Hire != nil {
		t.since = c.Board.Now()
	}
	patience, err := t.patience(ctx)
	if err != nil {
		return err
	}
	t.again = time.AfterFunc(patience, func() { t.tooLong(patience) })
	defer t.again.Stop()
	var all sync.WaitGroup
	for i := range c.Members {
		t.live[i] = true
	}
	last := map[string]chan struct{}{} // by role: closed when its last member has a number
	for i, m := range c.Members {
		before, numbered := last[m.name()], make(chan struct{})
		last[m.name()] = numbered
		all.Go(func() {
			if before != nil {
				<-before // numbers are assigned in order
			}
			t.member(ctx, i, m, sync.OnceFunc(func() { close(numbered) }), func() {})
		})
	}
	if c.Hire != nil {
		all.Go(func() { t.staff(ctx, &all) })
	}
	all.Wait()
	return t.outcome(ctx)
}

// patience is how long the team waits for work: as long as its most patient role.
func (t *team) patience(ctx context.Context) (time.Duration, error) {
	v, err := t.Board.View(ctx)
	if err != nil {
		return 0, err
	}
	c := v.State.Config()
	if err := v.State.Err(); err != nil {
		return 0, err
	}
	var most time.Duration
	var all []roles.Role
	for _, m := range t.Members {
		all = append(all, m.Role)
	}
	if t.Hire != nil {
		all = roles.Agents
	}
	for _, role := range all {
		_, longest := c.Waits(role)
		most = max(most, longest)
	}
	return most, nil
}

// member runs one supervisor, and again after it has lost its lease, or while network or disk keep
// it from registering. No event tells when those work again, so the pauses between are by time. It
// calls numbered once the supervisor has an id, and registered once the board has it; both also at the
// supervisor's end.
func (t *team) member(ctx context.Context, i int, c Config, numbered, registered func()) {
	defer registered()
	defer numbered()
	agent := c.name()
	c.Patient, c.isMember, c.proof, c.pace = true, t.has, t.proof, t.pace
	c.reserve = func(id string) bool {
		free := t.reserve(i, id)
		if free {
			numbered()
		}
		return free
	}
	c.Report = func(e Event) {
		if e.Event == Registered {
			agent = e.Agent
			numbered() // of one whose id was given
			registered()
		}
		t.note(i, e)
		t.Report(e)
	}
	for failures := 0; ; {
		err := Run(ctx, c)
		t.gone(i)
		delay := restartDelay
		switch {
		case ctx.Err() == nil && t.hasBegun() && passes(err):
			delay = min(troubleDelay<<min(failures, 10), longestDelay)
			failures++
			c.Report(Event{Time: t.Board.Now().UTC().Truncate(time.Second), Agent: agent, Event: Trouble, Text: "it registers again later: " + err.Error()})
		case ctx.Err() == nil && stopped(err, graceful) && t.Hire == nil:
			failures = 0
		default:
			t.ended(i, err)
			return
		}
		c.ID = "" // another agent may have the old id now
		select {
		case <-ctx.Done():
		case <-time.After(delay):
		}
	}
}

// passes reports whether an error that ended a supervisor may pass by itself, as those of network
// and disk do.
func passes(err error) bool {
	stop, refusal := (*StopError)(nil), (*board.Refusal)(nil)
	return err != nil && !errors.As(err, &stop) && !errors.As(err, &refusal) && !inconsistent(err) && !hopeless(err)
}

func (t *team) hasBegun() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.begun
}

// note records whether a member waits for lack of work.
func (t *team) note(i int, e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.Event == Registered {
		t.begun, t.agent[i] = true, e.Agent
	}
	switch {
	case e.Event != Waiting || !e.Idle:
		delete(t.idle, i)
	case t.idle[i].IsZero():
		t.idle[i] = t.Board.Now()
	}
}

// reserve takes an id for a member that is about to register with it, unless another one has it.
func (t *team) reserve(i int, id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for other, has := range t.agent {
		if has == id && other != i {
			return false
		}
	}
	t.agent[i] = id
	return true
}

// has reports whether a running member has an id.
func (t *team) has(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Contains(slices.Collect(maps.Values(t.agent)), id)
}

// gone notes that a member is registered no more.
func (t *team) gone(i int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.agent, i)
}

// tooLong ends the team if all its members have waited for work for too long.
func (t *team) tooLong(patience time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.since
	for i := range t.live {
		since, idle := t.idle[i]
		if !idle {
			last = t.Board.Now()
		}
		if since.After(last) {
			last = since
		}
	}
	left := last.Add(patience).Sub(t.Board.Now())
	if left > 0 {
		t.again.Reset(left)
		return
	}
	t.end(fmt.Errorf("nobody has had anything to do for %s", patience))
}

// ended records the end of a member. It ends the team if the reason stops all members, or if a role
// has none left; not if a human asked for the end of the member.
func (t *team) ended(i int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.live, i)
	delete(t.idle, i)
	if t.Hire != nil {
		t.quit(t.Members[i].name(), err)
		return
	}
	stop := (*StopError)(nil)
	switch {
	case err == nil, errors.As(err, &stop) && stop.asked:
		return
	case stop == nil || stop.Exit != 1:
		t.end(err)
		return
	}
	for other := range t.live {
		if t.Members[other].name() == t.Members[i].name() {
			return
		}
	}
	t.end(fmt.Errorf("no %s is left: %w", t.Members[i].name(), err))
}

// outcome is the team's result, by the status of its goals.
func (t *team) outcome(ctx context.Context) error {
	cause := context.Cause(ctx)
	stop := (*StopError)(nil)
	final := errors.As(cause, &stop) && stop.Exit != 1
	v, err := t.Board.View(context.WithoutCancel(ctx))
	var goals []*board.Goal
	if err == nil {
		goals, err = Served(v.State, t.Over), v.State.Err()
	}
	switch {
	case err == nil && !slices.ContainsFunc(goals, func(g *board.Goal) bool { return g.Status != board.Completed }):
		return nil
	case final:
		return cause // it may be the reason why the board can't be read
	case err != nil:
		return errors.Join(cause, err)
	}
	reason := strings.Join(Standings(v.State, goals), "; ")
	if cause != nil && !errors.Is(cause, context.Canceled) {
		reason = cause.Error() + "; " + reason
	}
	hint := "git liza status"
	if len(goals) > 0 && len(v.State.Running()) == 0 {
		hint = "a human: git liza goal start TEXT, or git liza goal reopen " + goals[0].ID
	}
	return &StopError{Exit: 1, Reason: reason, Hint: hint}
}

// Over returns the ended goals, with their end times.
func Over(s *board.State) map[string]board.Time {
	over := map[string]board.Time{}
	for _, g := range s.Goals() {
		if g.Status != board.InProgress {
			over[g.ID] = g.Ended
		}
	}
	return over
}

// Served returns the goals that had not ended before, or if there are none, the one that ended
// last.
func Served(s *board.State, over map[string]board.Time) []*board.Goal {
	served := slices.DeleteFunc(s.Goals(), func(g *board.Goal) bool {
		ended, was := over[g.ID]
		return was && g.Status != board.InProgress && g.Ended == ended
	})
	if g := s.TheGoal(); len(served) == 0 && g != nil {
		return []*board.Goal{g}
	}
	return served
}

// Standings describes the status of each goal.
func Standings(s *board.State, goals []*board.Goal) []string {
	var lines []string
	only := len(s.Goals()) == 1
	for _, g := range goals {
		name := "the goal"
		if !only {
			name = g.ID
		}
		lines = append(lines, fmt.Sprintf("%s is %s: %s", name, g.Status, Tally(s, g.ID)))
	}
	return lines
}

// Tally describes how many tasks of a goal are in which status, in the order of the flow. Without a
// goal it counts those of all goals in progress.
func Tally(s *board.State, goal string) string {
	counts := map[board.Status]int{}
	tasks := report.ShownTasks(s, goal)
	for _, b := range tasks {
		counts[b.Status]++
	}
	var parts []string
	for _, status := range board.Statuses {
		if n := counts[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	if len(parts) == 0 {
		return "no tasks"
	}
	return strings.Join(parts, ", ")
}
