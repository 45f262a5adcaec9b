package merge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/worktrees"
)

// TrainRequest asks for the merge of several tasks, in the given order.
type TrainRequest struct {
	gitboard.Request
	Tasks  []string  // empty: all that are APPROVED, by priority and then by how long they have waited
	Out    io.Writer // the output of the integration tests, as it comes; nil for nowhere
	Afresh bool      // test also what is known to pass
}

// Landing is a move of integration that the board records.
type Landing struct {
	Done           *gitboard.Done
	Commit         git.OID  // that landed
	Type           string   // of a task's: board.FastForward or board.MergeCommitType
	BroughtForward []string // checkouts of integration
	Warnings       []string // what somebody must look at
}

// Result is how the merge of a task ended. Either way the board says so.
type Result struct {
	Landing
	Task      string
	Merged    bool
	Untested  bool   // it landed without a test, and the board doesn't say that there is none
	Failure   string // board.FailConflict or board.FailTest
	Conflicts []string
	Log       string                 // the end of a failing test's output
	Test      *worktrees.FailedError // how that test ended, where it ran now
}

// Reason says why a merge failed.
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
	// errMoved says that integration has moved since a candidate was computed.
	errMoved = errors.New("integration has moved meanwhile")
	// errLeft says that a task has left the train: it is no longer what was approved.
	errLeft = errors.New("a task has left the train meanwhile")
)

// Train brings the approved commits of tasks to integration: computed, tested, and only then landed, in one transaction
// with the board. Each candidate is built on the one before it, the last one is tested for all of them, and they land
// together, one operation a task. What conflicts with those before it waits for its turn alone; when the test fails, the
// task that brought the failure is found by bisection and becomes INTEGRATION_FAILED, and the others land without it.
// A conflict or a failing test is recorded, and no error. With an error the results say what was recorded before it.
// An overlap with local changes of a checkout of integration is the refusal "overlap", before anything has moved; a merge
// of somebody else that is under way is the refusal "busy".
func Train(ctx context.Context, b *gitboard.Board, r TrainRequest) ([]*Result, error) {
	t := &train{b: b, r: r, since: b.Moment(), budget: b.Budget(), tests: testsOf(b, r.Afresh), ahead: map[string]*ahead{}}
	if err := t.before(ctx); len(t.results) > 0 || err != nil {
		return t.results, err
	}
	if _, err := Follow(ctx, b); err != nil {
		return nil, err
	}
	err := t.run(ctx)
	if err == nil {
		err = t.leftOut()
	}
	t.endAhead()
	return t.results, errors.Join(err, t.held.release(ctx), t.recordFlaky(ctx))
}

// train carries a request through its rounds. Each round records something.
type train struct {
	b       *gitboard.Board
	r       TrainRequest
	since   gitboard.Moment // when it was asked for
	budget  *gitboard.Budget
	tests   *tests
	ahead   map[string]*ahead // by place
	held    *holding          // while candidates are tested
	rounds  int               // that have written
	results []*Result
	left    []error // why tasks have left the train, with nothing recorded of them
}

// request is what the next round writes as: the first as the request, the others under ids that follow from it.
func (t *train) request() gitboard.Request {
	r := t.r.Request
	if r.ID != "" && t.rounds > 0 {
		r.ID += "/" + strconv.Itoa(t.rounds+1)
	}
	return r
}

// before finds what the same request has merged before.
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

// repeated takes in what was written under the request of this round before, or by another process just now.
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

// recorded is a merge as the board has it, nil for another operation.
func recorded(done *gitboard.Done) *Result {
	r := &Result{Landing: Landing{Done: done}, Task: done.Op.TaskID()}
	switch p := done.Op.Payload.(type) {
	case *board.Merge:
		r.Commit, r.Type = git.OID(p.MergeCommit), p.MergeType
		r.Merged, r.Failure, r.Conflicts, r.Log = p.Failure == "", p.Failure, p.Files, p.Log
	case *board.FinishMerge:
		r.Commit, r.Type, r.Merged = git.OID(p.MergeCommit), p.MergeType, true
	default:
		return nil
	}
	return r
}

func (t *train) run(ctx context.Context) error {
	waiting, err := t.waiting(ctx)
	for err == nil && len(waiting) > 0 {
		var rest []string
		switch rest, err = t.round(ctx, waiting); {
		case err == nil:
			waiting = rest
		case !errors.Is(err, errMoved) && !errors.Is(err, errLeft):
		case !t.budget.Spend():
			err = t.budget.Lost("merge", err)
		default:
			err = nil
		}
	}
	return err
}

// waiting lists the tasks to merge.
func (t *train) waiting(ctx context.Context) ([]string, error) {
	if len(t.r.Tasks) > 0 {
		return t.r.Tasks, nil
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
	return board.Refuse(board.CodeEmpty, "no task is APPROVED", "git liza status")
}

// leftOut reports the tasks that have left the train: as warnings of what did land, or else as the refusal.
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
	case len(t.r.Tasks) == 0 && !slices.ContainsFunc(t.left, inconsistent):
		return nothing() // any more
	}
	return t.left[0]
}

// alone says that one task was asked for by name: what keeps it from being merged is the answer.
func (t *train) alone() bool { return len(t.r.Tasks) == 1 }
