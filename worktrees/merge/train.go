package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/worktrees"
)

// round computes candidates for the first of the waiting tasks, tests them, and records the
// results. rest are the tasks that are still waiting.
func (t *train) round(ctx context.Context, waiting []string) (rest []string, err error) {
	v, err := t.b.View(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := v.KeptIntegration(ctx); err != nil {
		return nil, err
	}
	c, err := t.assemble(ctx, v, "", waiting)
	if err != nil {
		return nil, err
	}
	t.left = append(t.left, c.left...)
	if rest = without(waiting, c.gone...); len(c.gone) > 0 {
		return rest, nil // another may have moved the board
	}
	if failed := t.clash(ctx, v, c); failed != nil {
		p := failed.failure(board.FailConflict, "")
		p.Files, p.Log = worktrees.Recordable(failed.conflicts, maxFiles), failed.driver
		rest = without(rest, failed.task.ID)
		return rest, t.record(ctx, &move{train: t, view: v, failed: failed, p: p, last: len(rest) == 0})
	}
	tip := c.candidates[len(c.candidates)-1]
	switch err := t.plan(ctx, v, c.candidates); {
	case refusedAs(err, board.CodeTests): // a required test is missing
		first := c.candidates[:1] // the others may have a test without it
		t.lacking = cmp.Or(t.lacking, t.plan(ctx, v, first))
		return without(rest, idsOf(first)...), nil
	case err != nil:
		return nil, err
	}
	if err := t.b.Sharing().Upload(ctx, c.candidates[0].base, tip.commit); err != nil {
		return nil, err
	}
	if tip.command != "" { // otherwise record checks the lease and the checkouts at once
		if err := t.prepare(ctx, v, c.candidates); err != nil {
			return nil, err
		}
	}
	t.testAhead(ctx, v, tip, without(rest, idsOf(c.candidates)...))
	green, failed, err := t.prove(ctx, c.candidates)
	if err != nil {
		return nil, err
	}
	if green < len(c.candidates) {
		t.endAhead() // it was built on a candidate that does not land
	}
	landed := c.candidates[:green]
	rest = without(rest, idsOf(landed)...)
	m := &move{train: t, view: v, landed: landed}
	switch {
	case failed != nil && failed.why != nil: // of the first: it is not recorded
		t.left = append(t.left, failed.why)
		return without(rest, c.candidates[0].task.ID), nil
	case failed != nil:
		m.failed = c.candidates[green]
		m.p = m.failed.failure(board.FailTest, m.failed.command)
		m.p.Log, m.how = failed.log, failed.how
		rest = without(rest, m.failed.task.ID)
	}
	m.last = len(rest) == 0
	return rest, t.record(ctx, m)
}

// clash returns a candidate that conflicts with integration itself, nil for none. Its coder learns
// that before the others are tested.
func (t *train) clash(ctx context.Context, v *gitboard.View, c *assembly) *candidate {
	for _, aside := range c.aside {
		if len(c.candidates) == 0 {
			return aside
		}
		alone, err := t.candidate(ctx, v, "", aside.task.ID)
		if err == nil && alone.commit.IsZero() { // its own round reports any error
			return alone
		}
	}
	return nil
}

// assembly is a train as computed on a view.
type assembly struct {
	candidates []*candidate // each on top of the previous one
	aside      []*candidate // those that conflict with earlier ones
	gone       []string     // tasks that need no merge any more, or that integration already had
	left       []error      // why tasks left the train
}

// takes reports whether a task may get into the train, by the test that is set for it: all candidates
// have the same test. Its candidate determines whether that runs.
func (c *assembly) takes(s *board.State, id string) bool {
	task, err := s.FindTask(id)
	return err != nil || len(c.candidates) == 0 || board.TestOf(s, task) == board.TestOf(s, c.candidates[0].task)
}

// assemble computes candidates for tasks, each on top of the previous one; the first on onto, or on
// integration for "". Tasks with another test than the first wait for a later round: the test of
// the last candidate is that of all.
func (t *train) assemble(ctx context.Context, v *gitboard.View, onto plumbing.OID, tasks []string) (*assembly, error) {
	c, config := &assembly{}, v.State.Config()
	for _, id := range tasks {
		if len(c.candidates) == config.MergeBatch {
			break
		}
		if !c.takes(v.State, id) {
			continue
		}
		next, err := t.candidate(ctx, v, onto, id)
		switch {
		case errors.Is(err, errLater):
		case errors.Is(err, errGone):
			c.gone = append(c.gone, id)
		case !t.alone() && leaves(err):
			if inconsistent(err) { // a refusal names the task
				err = fmt.Errorf("%s: %w", id, err)
			}
			c.gone, c.left = append(c.gone, id), append(c.left, err)
		case err != nil:
			return nil, err
		case next.commit.IsZero():
			c.aside = append(c.aside, next)
		case len(c.candidates) > 0 && next.command != c.candidates[0].command: // it adds or removes the script
		default:
			c.candidates, onto = append(c.candidates, next), next.commit
		}
	}
	return c, nil
}

var (
	// errGone means that a task needs no further step.
	errGone = errors.New("integration has it already")
	// errLater means that a task lands together with earlier ones; a later round records it.
	errLater = errors.New("it lands with an earlier task")
)

// leaves reports whether a refusal concerns only the task, so that others can be merged without it.
// That includes a forged approval: the board as a whole is checked when the others land.
func leaves(err error) bool {
	r := (*board.Refusal)(nil)
	switch {
	case !errors.As(err, &r):
		return inconsistent(err)
	case r.Code == board.CodeMode:
		return r.Task != "" // the task is paused, not the board
	}
	return refusedAs(r, board.CodeWrongState, board.CodeStale, board.CodeMissing, board.CodeMalformed, board.CodeConflict, board.CodeIntegration)
}

func inconsistent(err error) bool { return errors.As(err, new(*log.RecordError)) }

// candidate computes one task's candidate. If a crash interrupted the merge halfway, it is finished
// instead: errGone.
func (t *train) candidate(ctx context.Context, v *gitboard.View, onto plumbing.OID, id string) (*candidate, error) {
	task, err := v.State.FindTask(id)
	if err != nil {
		return nil, err
	}
	if err := v.ProveTask(ctx, task.ID); err != nil { // a forged approval lands nothing
		return nil, err
	}
	if !t.alone() {
		if err := t.allowed(ctx, v, task); err != nil {
			return nil, err
		}
	}
	c, landed, err := compute(ctx, t.b, v, task, t.r.Actor, onto)
	if err != nil {
		if refused := t.allowed(ctx, v, task); refused != nil {
			err = refused
		}
		return nil, err
	}
	if !landed {
		c.command, err = testOf(ctx, t.b, c)
		return c, err
	}
	if onto != "" {
		return nil, errLater
	}
	f, err := finish(ctx, t.b, t.request(), task.ID)
	if f == nil && err == nil {
		err = cmp.Or(t.allowed(ctx, v, task), errMoved) // no longer APPROVED, or integration was reset
	}
	if err != nil {
		return nil, err
	}
	t.add(f.result())
	return nil, errGone
}

// add adds a result that a separate round has written.
func (t *train) add(results ...*Result) {
	t.results = append(t.results, results...)
	t.rounds++
}

// allowed asks the board whether the task may be merged at all.
func (t *train) allowed(ctx context.Context, v *gitboard.View, task *board.Task) error {
	tip, err := v.Integration(ctx)
	if err != nil {
		return err
	}
	// A conflict can be recorded whatever the test is.
	return v.Plan(ctx, t.r.Request, &board.Merge{
		About: board.About{Task: task.ID}, ReviewCommit: task.ReviewCommit, Before: string(tip), Failure: board.FailConflict,
	})
}

// refusedAs reports whether an error is a refusal for one of some reasons.
func refusedAs(err error, codes ...board.ErrorCode) bool {
	r := (*board.Refusal)(nil)
	return errors.As(err, &r) && slices.Contains(codes, r.Code)
}

// plan asks the board whether candidates may land before they are tested. The first is planned
// last, because its plan is reused when it lands.
func (t *train) plan(ctx context.Context, v *gitboard.View, candidates []*candidate) error {
	for i := range slices.Backward(candidates) {
		if err := v.Plan(ctx, t.r.Request, t.payload(candidates, i)); err != nil {
			return err
		}
	}
	return nil
}

// payload returns the operation that records one candidate's landing.
func (t *train) payload(candidates []*candidate, i int) *board.Merge {
	tip := candidates[len(candidates)-1]
	p := candidates[i].payload(candidates[i].command)
	if len(candidates) > 1 {
		p.Train = string(tip.commit)
	}
	return p
}

// maxFiles is how many conflicting files are recorded.
const maxFiles = 50

// prepare takes the merge lease before the test: of two merges one would be tested in vain. It
// refuses what could not land; errMoved if integration is no longer at the train's base.
func (t *train) prepare(ctx context.Context, v *gitboard.View, candidates []*candidate) (err error) {
	base, tip := candidates[0].base, candidates[len(candidates)-1].commit
	switch {
	case t.held != nil:
	case t.b.Remote() == "":
		t.held, err = hold(ctx, t.b, t.r.Actor, tip, idsOf(candidates)...)
	default:
		err = t.holdAhead(ctx, func() { t.start(ctx, candidates, testPlace, t.r.Out) }, tip, idsOf(candidates)...)
	}
	if err != nil {
		return err
	}
	now, err := v.Integration(ctx)
	if err != nil {
		return err
	}
	if now != base {
		return errMoved
	}
	_, err = following(ctx, t.b, v, base, tip)
	return err
}

// record lands candidates and records the failure of at most one, in one transaction with one
// operation per task. Without a landing, integration must stay where it is.
func (t *train) record(ctx context.Context, m *move) error {
	v, landed, log := m.view, m.landed, ""
	if m.failed != nil {
		log = t.hideSecrets(ctx, v, m.failed, m.p)
	}
	if len(landed) > 0 {
		if err := announced(ctx, t.b, v, landed[0].base, landed[len(landed)-1].commit); err != nil {
			return err
		}
	}
	all, err := t.b.DoAll(ctx, t.request(), m.decide, gitboard.Since(t.since), gitboard.On(v))
	switch {
	case err != nil && !t.alone() && leaves(err) && !inconsistent(err):
		return errLeft
	case err != nil:
		return err
	case all[0].Repeated: // written by the same request elsewhere
		return cmp.Or(t.repeated(all), errLeft)
	}
	if m.last {
		t.held = nil // given back
	}
	ctx, cancel := worktrees.Steady(ctx)
	defer cancel()
	var results []*Result
	untested := len(landed) > 0 && landed[len(landed)-1].command == "" && board.TestOf(v.State, landed[0].task) != board.NoTest
	for i, c := range landed {
		r := &Result{Landed: Landed{Done: all[i], Commit: c.commit, Type: c.kind}, Task: c.task.ID, Merged: true, Untested: untested}
		if i == len(landed)-1 {
			r.BroughtForward, r.Warnings = follow(ctx, t.b, v)
		}
		r.Warnings = slices.Concat(r.Warnings, tidy(ctx, t.b, all[len(all)-1].View, t.r.Actor, c.task.ID))
		results = append(results, r)
	}
	if f := m.failed; f != nil {
		results = append(results, &Result{
			Landed: Landed{Done: all[len(all)-1]}, Task: f.task.ID, Failure: m.p.Failure, Conflicts: f.conflicts, Log: log, Test: m.how,
		})
	}
	t.add(results...)
	return nil
}

// hideSecrets removes what looks like a credential from a failure's record: a merge has no
// --allow-secret, and a file name or a log must not block it. It returns the unchanged log.
func (t *train) hideSecrets(ctx context.Context, v *gitboard.View, c *candidate, p *board.Merge) string {
	kept := p.Log
	if err := v.Plan(ctx, t.r.Request, p); !refusedAs(err, board.CodeSecret) {
		return kept
	}
	p.Files = nil
	p.Log = "The output is not kept here, because it looks like it holds a credential; it is in " + filepath.Join("liza", "logs", "merge-"+c.task.ID+".log") + " of the git directory."
	if p.Failure == board.FailConflict {
		p.Log = "The files in conflict are not listed, because one's name looks like a credential."
	}
	return kept
}

// move is one transaction of a train.
type move struct {
	*train
	view   *gitboard.View
	landed []*candidate
	failed *candidate
	p      *board.Merge           // records how it failed
	how    *worktrees.FailedError // how its test ended
	last   bool                   // no task waits after it: the lease is given back with it
}

// decide is the intent of the transaction: first integration, then the board.
func (m *move) decide(ctx context.Context, v *gitboard.View) ([]board.Payload, []plumbing.RefUpdate, error) {
	first := m.failed
	if len(m.landed) > 0 {
		first = m.landed[0]
	}
	lease, err := m.still(ctx, v, first.base)
	if err != nil {
		return nil, nil, err
	}
	var (
		payloads []board.Payload
		refs     []plumbing.RefUpdate
		tip      = first.base
	)
	for i, c := range m.landed {
		hidden, err := m.b.Sharing().Publish(ctx, c.task.ID, plumbing.ZeroOID)
		if err != nil {
			return nil, nil, err
		}
		payloads, refs, tip = append(payloads, m.payload(m.landed, i)), append(refs, hidden...), c.commit
	}
	if m.failed != nil {
		payloads = append(payloads, m.p)
	}
	return payloads, append(refs, plumbing.RefUpdate{Ref: v.IntegrationRef(), Old: first.base, New: tip}, lease), nil
}

// still returns an update that makes the transaction fail if another session holds the merge lease,
// and gives back a lease that this one holds. errMoved if integration is no longer at the train's
// base.
func (m *move) still(ctx context.Context, v *gitboard.View, base plumbing.OID) (plumbing.RefUpdate, error) {
	now, err := v.Integration(ctx)
	if err != nil {
		return plumbing.RefUpdate{}, err
	}
	if now != base {
		return plumbing.RefUpdate{}, errMoved
	}
	if m.held == nil {
		return unheld(ctx, m.b)
	}
	lease, err := m.held.giveBack(ctx)
	if !m.last {
		lease.New = lease.Old // held
	}
	return lease, err
}

// tidy removes the worktree and branch of a MERGED task. It returns errors, and which commits of
// the branch did not land.
func tidy(ctx context.Context, b *gitboard.Board, v *gitboard.View, actor board.Actor, task string) []string {
	later, kept := 0, ""
	t, err := v.State.FindTask(task)
	if err == nil {
		later, kept, err = worktrees.Later(ctx, b, v, t)
	}
	if err == nil {
		err = worktrees.Tidy(ctx, b, v, actor, task)
	}
	switch {
	case err != nil:
		return []string{fmt.Sprintf("worktree or branch of %s could not be removed (git liza doctor looks at it): %v", task, err)}
	case later > 0:
		return []string{fmt.Sprintf("commits that came to %s after its approval did not land (%d); %s", v.TaskBranch(task), later, kept)}
	}
	return nil
}

func idsOf(candidates []*candidate) (ids []string) {
	for _, c := range candidates {
		ids = append(ids, c.task.ID)
	}
	return ids
}

// without returns ids except some of them.
func without(ids []string, less ...string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(less, id) })
}
