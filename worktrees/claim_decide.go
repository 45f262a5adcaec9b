package worktrees

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// choose returns the task that was named, or else the next one.
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

// nothing explains why there is no task to claim. A problem with the caller comes first, then a
// task that could have been claimed but for its worktree.
func (c *claimer) nothing(ctx context.Context, v *gitboard.View) error {
	none := noWork(v, c.r.Actor.ID)
	for _, r := range c.skip {
		if r.Code != board.CodeWrongState {
			none = r
		}
	}
	// The first task represents all of them. What concerns only that task doesn't count, unless it
	// is the coder's own.
	said := (*board.Refusal)(nil)
	err := v.Plan(ctx, c.r.Request, &board.Claim{About: board.About{Task: firstTask(v)}})
	if !errors.As(err, &said) {
		return cmp.Or(err, none)
	}
	if said.Code == board.CodeExists || said.Task == "" && slices.Contains(first, said.Code) {
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

// plan asks the board before any costly step.
func (c *claimer) plan(ctx context.Context, v *gitboard.View) error {
	c.limit = false
	p := &board.Claim{About: board.About{Task: c.task}, Clone: c.Clone}
	if c.kind.Fresh {
		base, err := c.integration(ctx, v)
		if err != nil {
			return err
		}
		p.BaseCommit = string(base)
	}
	err := v.Plan(ctx, c.r.Request, p)
	if r := (*board.Refusal)(nil); errors.As(err, &r) && r.Code == board.CodeLimit {
		c.limit, err = true, nil
	}
	return err
}

// intent decides the claim on a view: exactly as planned and prepared, or not at all.
func (c *claimer) intent(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
	t, err := v.State.FindTask(c.task)
	if err != nil {
		return nil, nil, err
	}
	if board.KindOfClaim(t, c.r.Actor.ID) != c.kind {
		return nil, nil, errChanged
	}
	about := board.About{Task: c.task}
	if c.limit {
		return &board.IterationLimit{About: about}, nil, nil
	}
	if !c.kind.Fresh {
		return &board.Claim{About: about, Clone: c.Clone}, nil, nil
	}
	if err := c.baseServes(ctx, v, t); err != nil {
		return nil, nil, err
	}
	if len(t.History) != c.events {
		return nil, nil, errChanged
	}
	if err := c.stands(ctx, v, c.task, c.kept); err != nil {
		return nil, nil, err
	}
	hidden, err := c.b.Sharing().Publish(ctx, c.task, plumbing.ZeroOID)
	if err != nil {
		return nil, nil, err
	}
	base := c.candidate.base
	p := &board.Claim{About: about, Clone: c.Clone, BaseCommit: string(base), Kept: string(c.kept.commit)}
	return p, slices.Concat(hidden, c.kept.refs, []plumbing.RefUpdate{{Ref: v.TaskRef(c.task), Old: c.kept.tip, New: base}}), nil
}

// baseServes checks, if the board moved, that the candidate's base still contains every dependency.
func (c *claimer) baseServes(ctx context.Context, v *gitboard.View, t *board.Task) error {
	if v.Commit == c.checked {
		return nil
	}
	lacks, err := c.lacking(ctx, v, t, c.candidate.base)
	if lacks != "" {
		return errChanged
	}
	return err
}

// holdsDependencies asks the remote again if its integration branch lacks what the board calls
// merged. It refuses if that does not help.
func (c *claimer) holdsDependencies(ctx context.Context, v *gitboard.View, t *board.Task, base plumbing.OID) error {
	for _, merge := range mergesBefore(v, t) {
		if has, err := c.b.Sharing().Brings(ctx, merge); !has {
			return cmp.Or(err, error(about(board.CodeMissing, t.ID, "%s depends on %.10s, which isn't in this clone or at %s", t.ID, merge, c.b.Remote()).
				Advise("%s, in a clone that has it", board.ActOn("land", merge))))
		}
	}
	lacks, err := c.lacking(ctx, v, t, base)
	if lacks == "" || err != nil {
		return err
	}
	if err := c.b.Refresh(ctx); err != nil {
		return err
	}
	if now, err := c.integration(ctx, v); err != nil || now != base {
		return cmp.Or(err, errChanged)
	}
	return about(board.CodeSetBack, t.ID, "integration at %s lacks %.10s, which %s depends on", c.b.Remote(), lacks, t.ID).Way(board.ActOn("land", lacks))
}

// lacking returns a commit that a task depends on and that base lacks, "" for none.
func (c *claimer) lacking(ctx context.Context, v *gitboard.View, t *board.Task, base plumbing.OID) (string, error) {
	for _, merge := range mergesBefore(v, t) {
		if in, err := c.repo.History().IsAncestor(ctx, plumbing.OID(merge), base); !in {
			return merge, err
		}
	}
	return "", nil
}

// mergesBefore lists the merge commits of the tasks that a claimable task depends on.
func mergesBefore(v *gitboard.View, t *board.Task) (commits []string) {
	for _, id := range t.DependsOn {
		if d := v.State.Task(id); d != nil {
			commits = append(commits, d.MergeCommit)
		}
	}
	return commits
}

// limitReached reports that the task is now BLOCKED.
func limitReached(done *gitboard.Done) error {
	t := done.After.Task(done.Op.TaskID())
	return refusal(board.CodeLimit, t.ID, "", "%s is BLOCKED now: %s", t.ID, t.BlockedReason)
}
