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
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/worktrees"
)

// Request asks for the merge of a task.
type Request struct {
	Actor   board.Actor
	Task    string
	Request string
	Out     io.Writer // the integration test's output, as it comes; nil for nowhere
}

// Result is how a merge ended. Either way the board says so.
type Result struct {
	Done      *gitboard.Done
	Merged    bool
	Commit    gitio.OID // that landed
	Type      string    // board.FastForward or board.MergeCommitType
	Failure   string    // board.FailConflict or board.FailTest
	Conflicts []string
	Log       string // the end of a failing test's output

	BroughtForward []string // checkouts of integration
	Warnings       []string // steps after the merge that somebody must look at
}

// errMoved says that integration has moved since the candidate was computed.
var errMoved = errors.New("integration has moved meanwhile")

// mergeTries is how often a candidate is computed and tested again when integration moves meanwhile.
const mergeTries = 10

// Merge brings a task's approved commit to integration: computed, tested, and only then landed, in one
// transaction with the board. A conflict or a failing test is recorded, and no error. An overlap with
// local changes of a checkout of integration is the refusal "overlap", before anything has moved; a merge
// of somebody else that is under way is the refusal "busy".
func Merge(ctx context.Context, b *gitboard.Board, r Request) (*Result, error) {
	m := &merger{b: b, r: r, since: b.Moment()}
	if done, err := m.before(ctx); done != nil || err != nil {
		return done, err
	}
	if _, err := Follow(ctx, b); err != nil {
		return nil, err
	}
	v, err := b.View(ctx)
	if err != nil {
		return nil, err
	}
	t, err := v.State.FindTask(r.Task)
	if err != nil {
		return nil, err
	}
	if err := m.allowed(ctx, v, t); err != nil {
		return nil, err
	}
	if f, err := finish(ctx, b, r.Actor, t.ID, r.Request); f != nil || err != nil {
		return f.result(), err
	}
	if m.held, err = hold(ctx, b, r.Actor, t.ID); err != nil {
		return nil, err
	}
	result, err := m.run(ctx)
	return result, errors.Join(err, m.held.release(ctx))
}

type merger struct {
	b     *gitboard.Board
	r     Request
	since gitboard.Moment // when it was asked for
	held  *holding
}

func (m *merger) request(intent gitboard.Intent) gitboard.Request {
	return gitboard.Request{Actor: m.r.Actor, ID: m.r.Request, Since: m.since, Intent: intent}
}

// before finds the merge that the same request has made before.
func (m *merger) before(ctx context.Context) (*Result, error) {
	done, err := worktrees.Repeated(ctx, m.b, m.r.Actor, m.r.Request)
	if done == nil || err != nil {
		return nil, err
	}
	switch p := done.Op.Payload.(type) {
	case *board.Merge:
		return &Result{Done: done, Merged: p.Failure == "", Commit: gitio.OID(p.MergeCommit), Type: p.MergeType, Failure: p.Failure, Conflicts: p.Files, Log: p.Log}, nil
	case *board.FinishMerge:
		return &Result{Done: done, Merged: true, Commit: gitio.OID(p.MergeCommit), Type: p.MergeType}, nil
	}
	return nil, board.Refuse("exists", fmt.Sprintf("the request %s was carried out before, as %s", done.Op.Request, done.Op.Name()), "use another request id")
}

// allowed asks the board before anything costly is done.
func (m *merger) allowed(ctx context.Context, v *gitboard.View, t *board.Task) error {
	tip, err := m.b.Integration(ctx, v)
	if err != nil {
		return err
	}
	// A conflict is what can be recorded whatever the test.
	return m.b.Dry(ctx, v, m.request(nil), &board.Merge{
		About: board.About{Task: t.ID}, ReviewCommit: t.ReviewCommit, Before: string(tip), Failure: board.FailConflict,
	})
}

func (m *merger) run(ctx context.Context) (*Result, error) {
	for range mergeTries {
		result, err := m.attempt(ctx)
		if errors.Is(err, errMoved) {
			continue
		}
		return result, err
	}
	return nil, &gitboard.LostError{Op: "merge", Attempts: mergeTries, Err: errMoved}
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
	c, landed, err := compute(ctx, m.b, v, t, m.r.Actor)
	if err != nil {
		return nil, err
	}
	if landed {
		f, err := finish(ctx, m.b, m.r.Actor, t.ID, m.r.Request)
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
	if err := m.b.Dry(ctx, v, m.request(nil), c.payload(command)); err != nil {
		return nil, err
	}
	if command != "" { // otherwise land looks at the checkouts at once
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

// maxFiles is how many files in conflict are recorded.
const maxFiles = 50

// test runs the integration test while the lease is renewed. A result is that of a failure.
func (m *merger) test(ctx context.Context, c *candidate, command string) (*Result, error) {
	var log string
	var failed bool
	err := m.held.during(ctx, renewEvery, func(ctx context.Context) error {
		var err error
		log, failed, err = test(ctx, m.b, c, command, m.r.Out)
		return err
	})
	if errors.Is(err, lease.ErrTaken) {
		return nil, m.held.ranOut()
	}
	if err != nil || !failed {
		return nil, err
	}
	p := c.failure(board.FailTest, command)
	p.Log = log
	return m.fail(ctx, c, p)
}

// fail records that the work did not land, provided that integration is still where that was found out.
func (m *merger) fail(ctx context.Context, c *candidate, p *board.Merge) (*Result, error) {
	kept := p.Log
	if r := (*board.Refusal)(nil); errors.As(m.b.Dry(ctx, c.view, m.request(nil), p), &r) && r.Code == "secret" {
		// A merge has no --allow-secret, and a file name or a log can't stop it.
		p.Files = nil
		p.Log = "The output is not kept here, because it looks like it holds a credential; it is in " + filepath.Join("liza", "logs", "merge-"+c.task.ID+".log") + " of the git directory."
		if p.Failure == board.FailConflict {
			p.Log = "The files in conflict are not listed, because one's name looks like a credential."
		}
	}
	done, err := m.b.Do(ctx, m.request(func(ctx context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
		lease, err := m.still(ctx, v, c)
		if err != nil {
			return nil, nil, err
		}
		return p, []gitio.RefUpdate{{Ref: v.IntegrationRef(), Old: c.base, New: c.base}, lease}, nil
	}))
	if err != nil {
		return nil, err
	}
	return &Result{Done: done, Failure: p.Failure, Conflicts: c.conflicts, Log: kept}, nil
}

// still is the part of the transaction that lets it happen only while the merge lease is held, and gives that back
// with it. errMoved when integration is no longer at the candidate's base.
func (m *merger) still(ctx context.Context, v *gitboard.View, c *candidate) (gitio.RefUpdate, error) {
	now, err := m.b.Integration(ctx, v)
	if err != nil {
		return gitio.RefUpdate{}, err
	}
	if now != c.base || v.IntegrationRef() != c.view.IntegrationRef() {
		return gitio.RefUpdate{}, errMoved
	}
	return m.held.giveBack(ctx)
}

// land moves integration and board, and brings the clone in line with them.
func (m *merger) land(ctx context.Context, c *candidate, command string) (*Result, error) {
	var tops []string
	done, err := m.b.Do(ctx, m.request(func(ctx context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
		lease, err := m.still(ctx, v, c)
		if err != nil {
			return nil, nil, err
		}
		if tops, err = following(ctx, m.b, v, c.base); err != nil {
			return nil, nil, err
		}
		hidden, err := m.b.Publish(ctx, c.task.ID, gitio.ZeroOID)
		if err != nil {
			return nil, nil, err
		}
		refs := append(hidden, gitio.RefUpdate{Ref: v.IntegrationRef(), Old: c.base, New: c.commit}, lease)
		return c.payload(command), refs, mayAdvance(ctx, m.b, tops, c.base, c.commit)
	}))
	if err != nil {
		return nil, err
	}
	ctx, cancel := steady(ctx)
	defer cancel()
	result := &Result{Done: done, Merged: true, Commit: c.commit, Type: c.kind}
	result.BroughtForward, result.Warnings = advance(ctx, m.b, tops, c.base, c.commit)
	result.Warnings = slices.Concat(result.Warnings, tidy(ctx, m.b, done.View, m.r.Actor, c.task.ID))
	return result, nil
}

// tidy removes worktree and branch of a task that is MERGED; what fails is told.
func tidy(ctx context.Context, b *gitboard.Board, v *gitboard.View, actor board.Actor, task string) []string {
	if err := worktrees.Tidy(ctx, b, v, actor, task); err != nil {
		return []string{fmt.Sprintf("worktree or branch of %s could not be removed (git liza doctor looks at it): %v", task, err)}
	}
	return nil
}
