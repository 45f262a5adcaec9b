package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// mergeAfter bounds how long the reviewers of a board wait for the one whose supervisor should
// merge (see Look.merger). The end of that one's lease also ends the wait.
const mergeAfter = 60 * time.Second

// lane merges approved work alongside its reviewer's reviews. The merge lease lets one lane of a
// board merge at a time. The others wait until it is dropped.
type lane struct {
	tasks []string // those that it merges, none if it is free
	done  chan merged
	end   context.CancelCauseFunc
	began time.Time
	took  time.Duration // by the last merge that landed something, 0 before that
	busy  time.Time     // when another merge was last seen
	again time.Time     // not before, after another merge was in the way
}

// busyAgain bounds the wait for a merge whose lease this clone does not see yet. Seeing it ends the
// wait.
const busyAgain = time.Second

// merged is the result of a merge.
type merged struct {
	state  *board.State // on which it was decided
	tasks  []string
	landed []Landed
	err    error
}

var (
	// errAborted ends a merge whose integration test is still running.
	errAborted = errors.New("the run is aborted: the merge has been given up")
	// errOutgrown ends a merge that has just begun, so that later approvals share its test.
	errOutgrown = errors.New("the merge begins again with further approved work")
)

// young is the part of the last merge's duration within which a merge begins again for further
// approvals: they would wait for the rest of its test, and for one of their own.
const young = 5

// landing returns the tasks to merge now: everything that is APPROVED, as soon as one of the tasks
// is this reviewer's to merge and no other merge is in progress. Approved work waits neither for
// the agent's next start nor for a limit to end. next is when to look again at the latest, zero for
// on a change.
func (l Look) landing(m *Memory) (ids []string, next time.Time) {
	if l.Role != roles.CodeReviewer || l.mode() != board.Running || len(l.Merging) > 0 {
		return nil, next
	}
	due := false
	for _, b := range l.State.Tasks() {
		if b.Status != board.Approved || b.Paused || !l.State.Runs(b.Goal) || l.Only != "" && b.ID != l.Only {
			continue
		}
		if at := m.mergeAgain(l.State.Task(b.ID)); l.Now.Before(at) {
			next = sooner(next, at)
			continue
		}
		ids = append(ids, b.ID)
		at := l.mergeFrom(b)
		if l.Now.Before(at) {
			next = sooner(next, at)
		} else {
			due = true
		}
	}
	switch {
	case !due:
		return nil, next
	case l.Now.Before(l.MergeBusy):
		return nil, sooner(next, l.MergeBusy)
	}
	return ids, next
}

// outgrown reports whether a merge of tasks has just begun and may take a task more that has the same
// test: each merge lands a batch at most, so that it begins again a few times at most.
func (l Look) outgrown(m *Memory, a lane) bool {
	if len(a.tasks) == 0 || len(a.tasks) >= l.State.Config().MergeBatch || l.Now.Sub(a.began) >= a.took/young {
		return false
	}
	l.Merging = nil
	ids, _ := l.landing(m)
	test := board.TestOf(l.State, l.State.Task(a.tasks[0]))
	return slices.ContainsFunc(ids, func(id string) bool {
		return !slices.Contains(a.tasks, id) && board.TestOf(l.State, l.State.Task(id)) == test
	})
}

// mergeFrom is when this reviewer may merge a task, zero for now.
func (l Look) mergeFrom(b board.Brief) time.Time {
	if l.merger(b.ApprovedBy) == l.Agent {
		return time.Time{}
	}
	free := l.past(b.StatusChangedAt)
	if l.MergeSeen.After(free) {
		free = l.MergeSeen
	}
	return free.Add(mergeAfter)
}

// merger is the reviewer whose supervisor should merge a task, so that they do not all try at once:
// the one who approved it, and otherwise the first. Both only if a supervisor runs them.
func (l Look) merger(approver string) string {
	first := ""
	for _, id := range append([]string{l.Agent}, l.State.List(board.AgentDir)...) {
		seen, leased := l.Leases[id]
		if id != l.Agent && (!leased || !l.Now.Before(seen.Expires) || l.State.Agent(id).ByHand()) {
			continue
		}
		if role, err := l.State.RoleOf(id); err != nil || role != roles.CodeReviewer {
			continue
		}
		if id == approver {
			return id
		}
		if first == "" || before(id, first) {
			first = id
		}
	}
	return first
}

// seeMerge notes in l the merge that another process is making.
func (s *supervisor) seeMerge(ctx context.Context, v *gitboard.View, l *Look) error {
	if s.Role != roles.CodeReviewer {
		return nil
	}
	if l.Merging = s.lane.tasks; len(l.Merging) == 0 {
		held, err := v.Lease(ctx, plumbing.MergeHolder)
		if err != nil {
			return err
		}
		if held.Live(l.Now) {
			l.MergeBusy, s.lane.busy, s.lane.again = held.Expires.Std(), l.Now, time.Time{}
			s.deaths.watch(held.Process)
		} else {
			l.MergeBusy = s.lane.again
		}
	}
	l.MergeSeen = s.lane.busy
	return nil
}

// merge starts a merge if there is one to make, and ends the current one if the run is aborted. It
// returns when to look again for another one, zero for on a change.
func (s *supervisor) merge(ctx context.Context, l *Look) (next time.Time, err error) {
	var tasks []string
	aborted, outgrown := false, false
	if err := read(l.State, func() {
		aborted, outgrown = l.mode() == board.Aborted, l.outgrown(s.memory, s.lane)
		tasks, next = l.landing(s.memory)
	}); err != nil {
		return next, err
	}
	switch {
	case len(l.Merging) == 0:
	case aborted:
		s.lane.end(errAborted)
	case outgrown:
		s.lane.end(errOutgrown)
	}
	if len(tasks) == 0 {
		if tasks, err = s.mergeAhead(ctx, *l); err != nil {
			return next, err
		}
	}
	if len(tasks) == 0 {
		return next, nil
	}
	if err := s.pulse.sure(ctx); err != nil {
		return next, err
	}
	working, end := context.WithCancelCause(ctx)
	s.lane = lane{tasks: tasks, done: make(chan merged, 1), end: end, began: l.Now, took: s.lane.took, busy: s.lane.busy}
	l.Merging = tasks
	done := s.lane.done
	s.merging.Go(func() {
		defer end(nil)
		out := &text.LineWriter{To: func(line string) { _, _ = io.WriteString(s.log, line) }} // output may be lost
		landed, err := s.Executor.Merge(working, s.actor, tasks, out)
		_ = out.Close()
		if cause := context.Cause(working); err != nil && (cause == errAborted || cause == errOutgrown) {
			err = cause
		}
		done <- merged{l.State, tasks, landed, err}
	})
	return next, nil
}

// mergeAhead returns the tasks to merge once a remote has taken their approval: the merge lease
// travels with it.
func (s *supervisor) mergeAhead(ctx context.Context, l Look) (tasks []string, err error) {
	if s.Role != roles.CodeReviewer || len(l.Merging) > 0 {
		return nil, nil
	}
	v, err := s.Board.Ahead(ctx)
	if v == nil || err != nil {
		return nil, err
	}
	l.State = v.State.ForRules()
	err = read(l.State, func() { tasks, _ = l.landing(s.memory) })
	return tasks, err
}

// merged reports a merge. A conflict or a failing test is recorded and final; another merge in
// progress is waited for; any other failure is retried later.
func (s *supervisor) merged(ctx context.Context, m merged) error {
	s.lane.tasks = nil
	if len(m.landed) > 0 {
		s.lane.took = s.Board.Now().Sub(s.lane.began)
	}
	tasks := m.tasks
	for _, t := range m.landed {
		if t.Merged {
			s.report(Merged, t.Task, t.Text)
		} else {
			s.report(MergeFailed, t.Task, t.Text)
		}
		tasks = slices.DeleteFunc(slices.Clone(tasks), func(id string) bool { return id == t.Task })
	}
	refusal := (*board.Refusal)(nil)
	switch err := m.err; {
	case err == nil || len(tasks) == 0:
		return nil
	case errors.Is(err, errOutgrown):
		return nil
	case errors.Is(err, errAborted):
		s.report(MergeFailed, tasks[0], err.Error())
		return nil
	case ctx.Err() != nil, taken(err), inconsistent(err), hopeless(err):
		return err
	case errors.As(err, &refusal) && refusal.Code == board.CodeBusy:
		s.lane.again = s.Board.Now().Add(busyAgain)
		return nil
	case errors.As(err, &refusal) && (refusal.Code == board.CodeWrongState || refusal.Code == board.CodeMode):
		return nil // somebody else was faster, or the run was stopped: the next look shows it
	}
	for _, id := range tasks {
		t := m.state.Task(id)
		if t == nil {
			return m.state.Err()
		}
		s.memory.MergeFailed(t, s.Board.Now())
	}
	s.report(Trouble, tasks[0], "the merge is tried again later: "+m.err.Error())
	s.repaired(tasks[0], s.unlock(ctx, m.err))
	return nil
}

// landFirst keeps a supervisor with approved work to land from stopping.
func (l Look) landFirst(s Step, m *Memory) Step {
	ids, next := l.landing(m)
	if ids = append(ids, l.Merging...); s.Do == Stop && len(ids) > 0 {
		return Step{Do: Wait, Reason: fmt.Sprintf("it merges %s before it stops: %s", strings.Join(ids, ", "), s.Reason)}
	}
	if s.Do == Wait {
		s.Until = sooner(s.Until, next)
	}
	return s
}
