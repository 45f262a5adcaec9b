package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/worktrees"
)

// TrainRequest asks to merge several tasks in the given order.
type TrainRequest struct {
	gitboard.Request
	Tasks  []string  // empty: all APPROVED tasks, by priority and then by waiting time
	Out    io.Writer // the output of the integration tests, as it comes; nil discards it
	Afresh bool      // also test what is known to pass
}

// Landed is a move of integration that the board records.
type Landed struct {
	Done           *gitboard.Done
	Commit         plumbing.OID // the one that landed
	Type           string       // of a task's: board.FastForward or board.MergeCommitType
	BroughtForward []string     // checkouts of integration
	Warnings       []string     // for a person to look at
}

// Result is the outcome of the merge of a task. The board records it either way.
type Result struct {
	Landed
	Task      string
	Merged    bool
	Untested  bool   // it landed without a test, though the board doesn't exempt the project
	Failure   string // board.FailConflict or board.FailTest
	Conflicts []string
	Log       string                 // the end of a failing test's output
	Test      *worktrees.FailedError // how that test ended, if it ran now
}

// Reason is the reason why a merge failed.
func (r *Result) Reason() string {
	switch {
	case r.Failure == board.FailConflict:
		return "it conflicts with integration"
	case r.Test != nil:
		return r.Test.Error()
	}
	return "the integration test failed"
}

var (
	// errMoved means that integration moved after a candidate was computed.
	errMoved = errors.New("integration moved in the meantime")
	// errLeft means that a task left the train: it is no longer the approved version.
	errLeft = errors.New("a task has left the train meanwhile")
)

// Train brings the approved commits of tasks to integration: computed, tested, and only then
// landed, in one transaction with the board. Each candidate is built on the previous one, the last
// is tested for all of them, and they land together, one operation per task. A task that conflicts
// with earlier ones waits for a round of its own, and tasks with another test than the first wait
// for a train of theirs. If the test fails, bisection finds the task that caused the failure; it
// becomes INTEGRATION_FAILED, and the others land without it.
//
// Tasks that lack a required test are passed over: the others land, and the error is that refusal.
// A task that keeps a train from being tested, since worktree_setup fails with its work or runs out
// of time, or the commit of a submodule can't be had, stays APPROVED, and the others land without
// it. If worktree_setup does so with integration alone, too, that is the error.
//
// A conflict or a failing test is recorded and is not an error. If there is an error, the results
// are what was recorded before it. If local changes of a checkout of integration are in the way,
// the refusal is "overlap", before any ref moves; if another merge is in progress, it is "busy".
func Train(ctx context.Context, b *gitboard.Board, r TrainRequest) ([]*Result, error) {
	ctx, _ = b.Retries(ctx)
	t := &train{b: b, r: r, since: b.Sharing().Moment(), tests: testsOf(b, r.Afresh), ahead: map[string]*ahead{}}
	if err := t.before(ctx); err != nil {
		return t.results, err
	}
	if len(t.results) > 0 {
		if finished, err := t.finished(ctx); finished || err != nil {
			// A merge would update the checkouts, but no task is left to merge.
			return t.results, cmp.Or(err, t.results[len(t.results)-1].catchUp(ctx, b))
		}
	}
	seen, err := t.early(ctx)
	if err != nil {
		t.endAhead()
		return nil, errors.Join(err, t.held.release(ctx))
	}
	if _, err = Follow(ctx, b, seen); err == nil {
		err = t.run(ctx)
	}
	if err == nil {
		err = cmp.Or(t.lacking, t.leftOut())
	}
	if len(t.results) == 0 {
		_, _ = catchUpNow(ctx, t.b) // the error explains the failed merge; doctor reports the checkouts that still have to follow
	}
	t.endAhead()
	return t.results, errors.Join(err, t.held.release(ctx), t.recordFlaky(ctx))
}

// train carries a request through its rounds. Each round records something.
type train struct {
	b       *gitboard.Board
	r       TrainRequest
	since   gitboard.Moment // when the merge was requested
	tests   *tests
	ahead   map[string]*ahead // by place
	held    *holding          // while candidates are tested
	rounds  int               // those that have written
	results []*Result
	left    []error // why tasks left the train without anything recorded about them
	// setsUpBare: worktree_setup has succeeded with integration alone since.
	setsUpBare bool
	lacking    error // refuses the tasks that lack a required test, nil if all have it
}

// early takes the merge lease before candidates of approved tasks are computed, where they are
// tested: reviewers' supervisors begin at the same time, and all but one would compute in vain. While
// a remote has yet to take the approvals, the lease travels with them. It returns since when the
// view of the remote is as good as new.
func (t *train) early(ctx context.Context) (seen gitboard.Moment, err error) {
	v, err := t.b.Ahead(ctx)
	ahead := v != nil
	if err == nil && !ahead && t.b.Remote() == "" {
		v, err = t.b.View(ctx)
	}
	if v == nil || err != nil || len(t.r.Tasks) == 0 {
		return seen, err
	}
	if !t.approved(v) || !ahead && !t.tested(v) {
		return seen, v.State.Err()
	}
	if !ahead {
		t.held, err = hold(ctx, t.b, t.r.Actor, "", t.r.Tasks...)
		return seen, err
	}
	if err := t.holdAhead(ctx, func() { t.testEarly(ctx, v) }, "", t.r.Tasks...); err != nil {
		return seen, err
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	changed, err := t.b.Follow(ctx, time.Second)
	for wait := 0; err == nil && wait < maxWaits; wait++ { // an approval may lose a race, and come later
		if v, err = t.b.View(ctx); err == nil && !t.inReview(v) {
			break
		}
		<-changed
	}
	return t.since, err
}

// holdAhead is hold for a train, on a shared board. It calls test as soon as the lease is on its way
// to the remote.
func (t *train) holdAhead(ctx context.Context, test func(), commit plumbing.OID, tasks ...string) error {
	following, end := context.WithCancel(ctx)
	defer end()
	changed, unseen := t.b.Follow(following, time.Second)
	h, err := newHolding(t.b, t.r.Actor, commit, tasks...)
	if err = cmp.Or(err, unseen); err != nil {
		return err
	}
	t.held = h
	taken := make(chan error, 1)
	go func() { taken <- h.take(ctx) }()
	for {
		select {
		case _, open := <-changed:
			if !open {
				changed = nil // ctx has ended
			} else if _, ours, err := h.now(ctx); ours && err == nil {
				changed = nil
				test()
			}
		case err := <-taken:
			if err != nil {
				t.held = nil
			}
			return err
		}
	}
}

// maxWaits bounds how many changes an approval is waited for.
const maxWaits = 10

// approved reports whether all named tasks are APPROVED.
func (t *train) approved(v *gitboard.View) bool {
	return !slices.ContainsFunc(t.r.Tasks, func(id string) bool {
		task := v.State.Task(id)
		return task == nil || task.Status != board.Approved
	})
}

// inReview reports whether one of the named tasks has yet to be approved.
func (t *train) inReview(v *gitboard.View) bool {
	return slices.ContainsFunc(t.r.Tasks, func(id string) bool {
		task := v.State.Task(id)
		return task != nil && task.Status == board.ReadyForReview
	})
}

// tested reports whether a test is set for one of the named tasks, which are on the board.
func (t *train) tested(v *gitboard.View) bool {
	return slices.ContainsFunc(t.r.Tasks, func(id string) bool {
		test := board.TestOf(v.State, v.State.Task(id))
		return test != "" && test != board.NoTest
	})
}

// request returns the identity under which the next round writes: the request's own for the first
// round, ids derived from it for the others.
func (t *train) request() gitboard.Request {
	r := t.r.Request
	if r.ID != "" && t.rounds > 0 {
		r.ID += "/" + strconv.Itoa(t.rounds+1)
	}
	return r
}

// before finds what the same request has already merged.
func (t *train) before(ctx context.Context) error {
	for {
		all, err := t.b.LookupAll(ctx, t.request())
		if err != nil || len(all) == 0 {
			return err
		}
		if err := t.repeated(all); err != nil {
			return err
		}
	}
}

// finished reports whether a repeated request has nothing left to do. If it was cut short, what was
// named and is not recorded has its turn now. Which tasks were APPROVED when all of them were asked
// for is not known any more; the caller learns which are.
func (t *train) finished(ctx context.Context) (bool, error) {
	if len(t.r.Tasks) > 0 {
		return len(t.turns()) == 0, nil
	}
	v, err := t.b.View(ctx)
	if err != nil {
		return true, err
	}
	if ids := board.Mergeable(v.State); len(ids) > 0 {
		last := t.results[len(t.results)-1]
		last.Warnings = append(last.Warnings, fmt.Sprintf("APPROVED now, and not merged by this request: %s (git liza merge --all)", worktrees.Listed(ids)))
	}
	return true, v.State.Err()
}

// turns lists the named tasks without a record.
func (t *train) turns() []string {
	var recorded []string
	for _, r := range t.results {
		recorded = append(recorded, r.Task)
	}
	return without(t.r.Tasks, recorded...)
}

// repeated adds what was written earlier under the request of this round, or just now by another
// process.
func (t *train) repeated(all []*gitboard.Done) error {
	var results []*Result
	for _, done := range all {
		r := recorded(done)
		if r == nil {
			return board.Refuse(board.CodeExists, fmt.Sprintf("the request %s was carried out before, as %s", done.Op.Request, done.Op.Name()), "use another request id")
		}
		results = append(results, r)
	}
	t.add(results...)
	return nil
}

// recorded returns a merge as the board records it, nil for another operation.
func recorded(done *gitboard.Done) *Result {
	r := &Result{Landed: Landed{Done: done}, Task: done.Op.TaskID()}
	switch p := done.Op.Payload.(type) {
	case *board.Merge:
		r.Commit, r.Type = plumbing.OID(p.MergeCommit), p.MergeType
		r.Merged, r.Failure, r.Conflicts, r.Log = p.Failure == "", p.Failure, p.Files, p.Log
	case *board.FinishMerge:
		r.Commit, r.Type, r.Merged = plumbing.OID(p.MergeCommit), p.MergeType, true
	default:
		return nil
	}
	return r
}

func (t *train) run(ctx context.Context) error {
	ctx, retries := t.b.Retries(ctx)
	waiting, err := t.waiting(ctx)
	for err == nil && len(waiting) > 0 {
		var rest []string
		switch rest, err = t.round(ctx, waiting); {
		case err == nil:
			waiting = rest
		case !errors.Is(err, errMoved) && !errors.Is(err, errLeft):
		case !retries.Spend():
			err = gitboard.Lost("merge", retries, err)
		default:
			err = nil
		}
	}
	return err
}

// waiting lists the tasks to merge.
func (t *train) waiting(ctx context.Context) ([]string, error) {
	if len(t.r.Tasks) > 0 {
		return t.turns(), nil
	}
	v, err := t.b.View(ctx)
	if err != nil {
		return nil, err
	}
	ids := board.Mergeable(v.State)
	if err := v.State.Err(); err != nil || len(ids) > 0 {
		return ids, err
	}
	return nil, nothing()
}

func nothing() error {
	return board.Refusef(board.CodeEmpty, "no task is APPROVED").Way(board.ActOn("status"))
}

// leftOut reports the tasks that have left the train: as warnings on those that landed, or else as
// the refusal.
func (t *train) leftOut() error {
	switch {
	case len(t.left) == 0:
		return nil
	case len(t.results) > 0:
		last := t.results[len(t.results)-1]
		for _, why := range t.left {
			last.Warnings = append(last.Warnings, "left out: "+why.Error())
		}
		return nil
	case len(t.r.Tasks) == 0 && !slices.ContainsFunc(t.left, func(why error) bool { return !refusedAs(why, board.CodeWrongState, board.CodeStale) }):
		return nothing() // no task is APPROVED any more
	}
	return t.left[0]
}

// alone reports whether a single task was requested by name: then whatever prevents its merge is
// the answer.
func (t *train) alone() bool { return len(t.r.Tasks) == 1 }
