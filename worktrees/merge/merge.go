package merge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/worktrees"
)

// Request asks for the merge of a task.
type Request struct {
	gitboard.Request
	Task string
	Out  io.Writer // the integration test's output, as it comes; nil for nowhere
}

// Landing is a move of integration that the board records.
type Landing struct {
	Done           *gitboard.Done
	Commit         git.OID  // that landed
	Type           string   // of a task's: board.FastForward or board.MergeCommitType
	BroughtForward []string // checkouts of integration
	Warnings       []string // steps after the landing that somebody must look at
}

// Result is how a merge ended. Either way the board says so.
type Result struct {
	Landing
	Merged    bool
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

// errMoved says that integration has moved since the candidate was computed.
var errMoved = errors.New("integration has moved meanwhile")

// Merge brings a task's approved commit to integration: computed, tested, and only then landed, in one
// transaction with the board. A conflict or a failing test is recorded, and no error. An overlap with
// local changes of a checkout of integration is the refusal "overlap", before anything has moved; a merge
// of somebody else that is under way is the refusal "busy".
func Merge(ctx context.Context, b *gitboard.Board, r Request) (*Result, error) {
	m := &merger{b: b, r: r, since: b.Moment(), budget: b.Budget()}
	if done, err := m.before(ctx); done != nil || err != nil {
		return done, err
	}
	if _, err := Follow(ctx, b); err != nil {
		return nil, err
	}
	result, err := m.run(ctx)
	return result, errors.Join(err, m.held.release(ctx))
}

type merger struct {
	b      *gitboard.Board
	r      Request
	since  gitboard.Moment // when it was asked for
	budget *gitboard.Budget
	held   *holding // while the candidate is tested
}

func (m *merger) do(ctx context.Context, c *candidate, intent gitboard.Intent) (*gitboard.Done, error) {
	return m.b.Do(ctx, m.r.Request, intent, gitboard.Since(m.since), gitboard.On(c.view), gitboard.Within(m.budget))
}

// before finds the merge that the same request has made before.
func (m *merger) before(ctx context.Context) (*Result, error) {
	done, err := m.b.Lookup(ctx, m.r.Request)
	if done == nil || err != nil {
		return nil, err
	}
	switch p := done.Op.Payload.(type) {
	case *board.Merge:
		return &Result{Landing: Landing{Done: done, Commit: git.OID(p.MergeCommit), Type: p.MergeType}, Merged: p.Failure == "", Failure: p.Failure, Conflicts: p.Files, Log: p.Log}, nil
	case *board.FinishMerge:
		return &Result{Landing: Landing{Done: done, Commit: git.OID(p.MergeCommit), Type: p.MergeType}, Merged: true}, nil
	}
	return nil, board.Refuse(board.CodeExists, fmt.Sprintf("the request %s was carried out before, as %s", done.Op.Request, done.Op.Name()), "use another request id")
}

// allowed asks the board whether the task may be merged at all.
func (m *merger) allowed(ctx context.Context, v *gitboard.View, t *board.Task) error {
	tip, err := m.b.Integration(ctx, v)
	if err != nil {
		return err
	}
	// A conflict is what can be recorded whatever the test.
	return v.Plan(ctx, m.r.Request, &board.Merge{
		About: board.About{Task: t.ID}, ReviewCommit: t.ReviewCommit, Before: string(tip), Failure: board.FailConflict,
	})
}

func (m *merger) run(ctx context.Context) (*Result, error) {
	for {
		result, err := m.attempt(ctx)
		if !errors.Is(err, errMoved) {
			return result, err
		}
		if !m.budget.Spend() {
			return nil, m.budget.Lost("merge", err)
		}
	}
}

// attempt computes, tests and lands once.
func (m *merger) attempt(ctx context.Context) (*Result, error) {
	v, err := m.b.View(ctx)
	if err != nil {
		return nil, err
	}
	t, err := v.State.FindTask(m.r.Task)
	if err != nil {
		return nil, err
	}
	if err := m.b.ProveTask(ctx, v, t.ID); err != nil { // an approval that was forged lands nothing
		return nil, err
	}
	c, landed, err := compute(ctx, m.b, v, t, m.r.Actor)
	if err != nil {
		if refused := m.allowed(ctx, v, t); refused != nil {
			err = refused
		}
		return nil, err
	}
	if landed {
		f, err := finish(ctx, m.b, m.r.Request, t.ID)
		if f == nil && err == nil {
			err = m.allowed(ctx, v, t) // no longer APPROVED
		}
		return f.result(), err
	}
	if c.commit.IsZero() {
		p := c.failure(board.FailConflict, "")
		p.Files = worktrees.Recordable(c.conflicts, maxFiles)
		return m.fail(ctx, c, p)
	}
	command, err := testOf(ctx, m.b, c)
	if err != nil {
		return nil, err
	}
	if err := v.Plan(ctx, m.r.Request, c.payload(command)); err != nil {
		return nil, err
	}
	if command != "" { // otherwise land looks at the lease and the checkouts at once
		if err := m.hold(ctx, v, c); err != nil {
			return nil, err
		}
		tops, err := following(ctx, m.b, v, c.base)
		if err != nil {
			return nil, err
		}
		if err := mayAdvance(ctx, m.b, tops, c.base, c.commit); err != nil {
			return nil, err
		}
		if result, err := m.test(ctx, c, command); result != nil || err != nil {
			return result, err
		}
	}
	return m.land(ctx, c, command)
}

// hold takes the merge lease before the test: of two merges one would be tested in vain. errMoved when integration is no
// longer at the candidate's base.
func (m *merger) hold(ctx context.Context, v *gitboard.View, c *candidate) (err error) {
	if m.held != nil {
		return nil
	}
	if m.held, err = hold(ctx, m.b, m.budget, m.r.Actor, c.task.ID); err != nil {
		return err
	}
	now, err := m.b.Integration(ctx, v)
	if err == nil && now != c.base {
		err = errMoved
	}
	return err
}

// maxFiles is how many files in conflict are recorded.
const maxFiles = 50

// test runs the integration test while the lease is renewed. A result is that of a failure.
func (m *merger) test(ctx context.Context, c *candidate, command string) (*Result, error) {
	var log string
	var failed *worktrees.FailedError
	err := m.held.during(ctx, renewEvery, func(ctx context.Context) error {
		var err error
		log, failed, err = test(ctx, m.b, c, command, m.r.Out)
		return err
	})
	if errors.Is(err, lease.ErrTaken) {
		return nil, m.held.ranOut()
	}
	if err != nil || failed == nil {
		return nil, err
	}
	p := c.failure(board.FailTest, command)
	p.Log = log
	result, err := m.fail(ctx, c, p)
	if result != nil {
		result.Test = failed
	}
	return result, err
}

// fail records that the work did not land, provided that integration is still where that was found out.
func (m *merger) fail(ctx context.Context, c *candidate, p *board.Merge) (*Result, error) {
	kept := p.Log
	if r := (*board.Refusal)(nil); errors.As(c.view.Plan(ctx, m.r.Request, p), &r) && r.Code == board.CodeSecret {
		// A merge has no --allow-secret, and a file name or a log can't stop it.
		p.Files = nil
		p.Log = "The output is not kept here, because it looks like it holds a credential; it is in " + filepath.Join("liza", "logs", "merge-"+c.task.ID+".log") + " of the git directory."
		if p.Failure == board.FailConflict {
			p.Log = "The files in conflict are not listed, because one's name looks like a credential."
		}
	}
	done, err := m.do(ctx, c, m.failing(c, p))
	if err != nil {
		return nil, err
	}
	return &Result{Landing: Landing{Done: done}, Failure: p.Failure, Conflicts: c.conflicts, Log: kept}, nil
}

// failing is the intent to record a failure: it holds integration where it is, and what the lease says.
func (m *merger) failing(c *candidate, p *board.Merge) gitboard.Intent {
	return func(ctx context.Context, v *gitboard.View) (board.Payload, []git.RefUpdate, error) {
		lease, err := m.still(ctx, v, c)
		if err != nil {
			return nil, nil, err
		}
		return p, []git.RefUpdate{{Ref: v.IntegrationRef(), Old: c.base, New: c.base}, lease}, nil
	}
}

// still is the part of the transaction that lets it happen only while nobody else holds the merge lease, and gives back
// one that is held. errMoved when integration is no longer at the candidate's base.
func (m *merger) still(ctx context.Context, v *gitboard.View, c *candidate) (git.RefUpdate, error) {
	now, err := m.b.Integration(ctx, v)
	if err != nil {
		return git.RefUpdate{}, err
	}
	if now != c.base || v.IntegrationRef() != c.view.IntegrationRef() {
		return git.RefUpdate{}, errMoved
	}
	if m.held == nil {
		return unheld(ctx, m.b)
	}
	return m.held.giveBack(ctx)
}

// land moves integration and board, and brings the clone in line with them.
func (m *merger) land(ctx context.Context, c *candidate, command string) (*Result, error) {
	var tops []string
	done, err := m.do(ctx, c, m.landing(c, command, &tops))
	if err != nil {
		return nil, err
	}
	ctx, cancel := steady(ctx)
	defer cancel()
	result := &Result{Landing: Landing{Done: done, Commit: c.commit, Type: c.kind}, Merged: true}
	result.BroughtForward, result.Warnings = advance(ctx, m.b, tops, c.base, c.commit)
	result.Warnings = slices.Concat(result.Warnings, tidy(ctx, m.b, done.View, m.r.Actor, c.task.ID))
	return result, nil
}

// landing is the intent to move integration to a candidate, with its lease. tops are the checkouts that follow.
func (m *merger) landing(c *candidate, command string, tops *[]string) gitboard.Intent {
	return func(ctx context.Context, v *gitboard.View) (board.Payload, []git.RefUpdate, error) {
		lease, err := m.still(ctx, v, c)
		if err != nil {
			return nil, nil, err
		}
		if *tops, err = following(ctx, m.b, v, c.base); err != nil {
			return nil, nil, err
		}
		hidden, err := m.b.Publish(ctx, c.task.ID, git.ZeroOID)
		if err != nil {
			return nil, nil, err
		}
		refs := append(hidden, git.RefUpdate{Ref: v.IntegrationRef(), Old: c.base, New: c.commit}, lease)
		return c.payload(command), refs, mayAdvance(ctx, m.b, *tops, c.base, c.commit)
	}
}

// tidy removes worktree and branch of a task that is MERGED; what fails is told.
func tidy(ctx context.Context, b *gitboard.Board, v *gitboard.View, actor board.Actor, task string) []string {
	if err := worktrees.Tidy(ctx, b, v, actor, task); err != nil {
		return []string{fmt.Sprintf("worktree or branch of %s could not be removed (git liza doctor looks at it): %v", task, err)}
	}
	return nil
}
