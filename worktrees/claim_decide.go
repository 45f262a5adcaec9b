package worktrees

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// choose returns the task that was named, or the next.
func (c *claimer) choose(ctx context.Context, v *gitboard.View) (*board.Task, error) {
	id := c.r.Task
	if id == "" {
		var err error
		if id, err = choose(ctx, v, c.r.Actor.ID, c.skip); err != nil {
			return nil, err
		}
		if id == "" {
			return nil, c.nothing(ctx, v)
		}
	}
	return v.State.FindTask(id)
}

// nothing says why there is nothing to claim: what is wrong with who asks comes first, then a task that
// could have been had but for its worktree.
func (c *claimer) nothing(ctx context.Context, v *gitboard.View) error {
	none := noWork(v, c.r.Actor.ID)
	for _, err := range c.skip {
		if r := (*board.Refusal)(nil); errors.As(err, &r) && r.Code != "wrong-state" {
			none = err
		}
	}
	// The first task stands for any: what is said of it alone doesn't count, unless it's the coder's own.
	said := (*board.Refusal)(nil)
	err := c.b.Dry(ctx, v, c.request(), &board.Claim{About: board.About{Task: firstTask(v)}})
	if errors.As(err, &said) && (said.Code == "exists" || said.Task == "" && slices.Contains(first, said.Code)) {
		return err
	}
	return none
}

func firstTask(v *gitboard.View) string {
	if tasks := v.State.Tasks(); len(tasks) > 0 {
		return tasks[0].ID
	}
	return ""
}

// allowed asks the board before anything costly is done. limit: the task will be BLOCKED instead.
func (c *claimer) allowed(ctx context.Context, v *gitboard.View) (limit bool, err error) {
	p := &board.Claim{About: board.About{Task: c.task}, Clone: c.clone}
	if c.kind.Fresh {
		base, err := c.integration(ctx, v)
		if err != nil {
			return false, err
		}
		p.BaseCommit = string(base)
	}
	err = c.b.Dry(ctx, v, c.request(), p)
	if r := (*board.Refusal)(nil); errors.As(err, &r) && r.Code == "limit" {
		return true, nil
	}
	return false, err
}

// intent decides the claim on a view: as prepared, or not at all.
func (c *claimer) intent(ctx context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
	t, err := v.State.FindTask(c.task)
	if err != nil {
		return nil, nil, err
	}
	if board.KindOfClaim(t, c.r.Actor.ID) != c.kind {
		return nil, nil, errChanged
	}
	limit, err := c.allowed(ctx, v)
	if err != nil {
		return nil, nil, err
	}
	about := board.About{Task: c.task}
	if limit {
		return &board.IterationLimit{About: about}, nil, nil
	}
	if !c.prepared {
		return nil, nil, errChanged // it would have passed the limit then
	}
	if !c.kind.Fresh {
		return &board.Claim{About: about, Clone: c.clone}, nil, nil
	}
	if err := c.baseServes(ctx, v, t); err != nil {
		return nil, nil, err
	}
	if c.kept, err = c.keep(ctx, v, c.task, c.r.Actor); err != nil {
		return nil, nil, err
	}
	if err := c.kept.at.blocked(c.task); err != nil {
		return nil, nil, c.unlessChanged(ctx, v, err)
	}
	if c.kept.which != "" {
		c.candidate.instead = &replaced{Worktree: c.kept.which, Agent: c.r.Actor.ID, Events: len(t.History)}
		if err := c.candidate.note(c.task); err != nil {
			return nil, nil, err
		}
	}
	hidden, err := c.b.Publish(ctx, c.task, gitio.ZeroOID)
	if err != nil {
		return nil, nil, err
	}
	base := c.candidate.base
	p := &board.Claim{About: about, Clone: c.clone, BaseCommit: string(base), Kept: string(c.kept.commit)}
	return p, slices.Concat(hidden, c.kept.refs, []gitio.RefUpdate{{Ref: Branch(c.task), Old: c.kept.tip, New: base}}), nil
}

// baseServes checks, when the board has moved, that the candidate still begins where every dependency
// is.
func (c *claimer) baseServes(ctx context.Context, v *gitboard.View, t *board.Task) error {
	if v.Commit == c.checked {
		return nil
	}
	return c.dependenciesIn(ctx, v, t, c.candidate.base)
}

// holdsDependencies asks the remote again while integration there has not what the board says.
func (c *claimer) holdsDependencies(ctx context.Context, v *gitboard.View, base gitio.OID) error {
	t, err := v.State.FindTask(c.task)
	if err != nil {
		return err
	}
	for _, id := range t.DependsOn {
		if d := v.State.Task(id); d != nil && d.MergeCommit != "" {
			if has, err := c.b.Brings(ctx, d.MergeCommit); err != nil || !has {
				return cmp.Or(err, errChanged)
			}
		}
	}
	err = c.dependenciesIn(ctx, v, t, base)
	if errors.Is(err, errChanged) {
		return cmp.Or(c.b.Refresh(ctx), err)
	}
	return err
}

func (c *claimer) dependenciesIn(ctx context.Context, v *gitboard.View, t *board.Task, base gitio.OID) error {
	for _, id := range t.DependsOn {
		d := v.State.Task(id)
		if d == nil || d.MergeCommit == "" {
			continue
		}
		in, err := c.repo.IsAncestor(ctx, gitio.OID(d.MergeCommit), base)
		if err != nil {
			return err
		}
		if !in {
			return errChanged
		}
	}
	return nil
}

// limitReached says that the task is BLOCKED now.
func limitReached(done *gitboard.Done) error {
	t := done.After.Task(done.Op.TaskID())
	return refusal("limit", t.ID, "a planner looks at it; take another task: git liza claim", "%s is BLOCKED now: %s", t.ID, t.BlockedReason)
}
