package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees/doctor"
)

// candidate is what integration would become by a merge.
type candidate struct {
	view      *gitboard.View
	task      *board.Task
	base      plumbing.OID // the commit it was computed on: integration's, or the previous candidate's
	commit    plumbing.OID // zero if the work conflicts with base
	tree      plumbing.OID // the commit's tree, zero until needed
	command   string       // the test command, "" for none
	kind      string       // board.FastForward or board.MergeCommitType
	conflicts []string
	driver    string // names the merge driver that a conflict needs, "" for none
	drift     int
}

// compute makes the candidate of a task's approved commit on top of another candidate's commit, or
// of integration's current one for "". landed means that the base already contains the commit.
func compute(ctx context.Context, b *gitboard.Board, v *gitboard.View, t *board.Task, actor board.Actor, onto plumbing.OID) (c *candidate, landed bool, err error) {
	repo := b.Repo()
	review := plumbing.OID(t.ReviewCommit)
	has, err := b.Sharing().Brings(ctx, t.ReviewCommit)
	if err != nil {
		return nil, false, err
	}
	if !has {
		return nil, false, board.Refusef(board.CodeMissing, "the approved commit %s of %s is not in this clone", review.Short(), t.ID).Way(board.ActOn("sync"))
	}
	c = &candidate{view: v, task: t, base: onto}
	if onto == "" {
		if c.base, err = v.Integration(ctx); err != nil {
			return nil, false, err
		}
	}
	if err := complete(ctx, b, t, c.base); err != nil {
		return nil, false, err
	}
	forward, err := repo.History().IsAncestor(ctx, c.base, review)
	if err != nil {
		return nil, false, err
	}
	if !forward || c.base == review {
		if landed, err = repo.History().IsAncestor(ctx, review, c.base); landed || err != nil {
			return nil, landed, err
		}
	}
	if err := c.reviewed(ctx, repo); err != nil {
		return nil, false, err
	}
	if c.drift, err = drift(ctx, repo, t, c.base); err != nil {
		return nil, false, err
	}
	if forward && v.State.Config().MergeStyle != "no-ff" {
		c.commit, c.kind = review, board.FastForward
		return c, false, nil
	}
	c.commit, err = git.KeptWhole(func() (plumbing.OID, error) {
		tree, conflicts, err := repo.History().MergeTree(ctx, c.base, review)
		if err != nil || len(conflicts) > 0 {
			c.conflicts = distinct(conflicts)
			return "", err
		}
		c.kind, c.tree = board.MergeCommitType, tree
		return c.write(ctx, b, tree, actor)
	})
	if err == nil && len(c.conflicts) > 0 {
		err = c.undriven(ctx, repo)
	}
	return c, false, err
}

// undriven refuses a merge that conflicts because a driver has not run, if it is defined where
// agents can write. Others are named.
func (c *candidate) undriven(ctx context.Context, repo *git.Repo) error {
	drivers, err := repo.Drivers(ctx, c.base, plumbing.OID(c.task.ReviewCommit), c.conflicts)
	if err != nil {
		return err
	}
	for _, path := range c.conflicts {
		d, is := drivers[path]
		switch {
		case !is || d.Yours:
		case d.Here:
			refusal := board.Refuse(board.CodeConflict, fmt.Sprintf("%s can't be merged here: %s needs the merge driver %s, which only this repository's settings define, where agents can change it", c.task.ID, text.Line(path, 80), text.Line(d.Name, 40)),
				fmt.Sprintf("a human defines it for all of their repositories: git config --global merge.%s.driver COMMAND", text.Line(d.Name, 40)))
			refusal.Task = c.task.ID
			return refusal
		default:
			c.driver = fmt.Sprintf("%s needs the merge driver %s, which git's global settings do not define here.", text.Line(path, 80), text.Line(d.Name, 40))
		}
	}
	return nil
}

// complete refuses to land work of which this clone lacks a part.
func complete(ctx context.Context, b *gitboard.Board, t *board.Task, onto plumbing.OID) error {
	return incomplete(b.Complete(ctx, t, onto), t.ID, board.Advice("%s shows how to bring it back", board.ActOn("doctor")), doctor.Malformed(t))
}

// incomplete is the refusal of commits that lack objects or are malformed, if err is about that:
// nobody could check integration out. rework is the hint for the latter.
func incomplete(err error, what string, hint, rework board.Hint) error {
	if malformed := (*git.MalformedError)(nil); errors.As(err, &malformed) {
		return board.Refusef(board.CodeMalformed, "%s can't land: %v", what, malformed).Advise("%s", rework)
	}
	if damage := (*git.DamagedError)(nil); errors.As(err, &damage) {
		return board.Refusef(board.CodeMissing, "%s can't land: %v", what, damage).Advise("%s", hint)
	}
	return err
}

// reviewed checks that the review began at a commit of integration: the reviewer saw no earlier
// changes.
func (c *candidate) reviewed(ctx context.Context, repo *git.Repo) error {
	began := plumbing.OID(c.task.ReviewBase)
	if is, err := repo.History().IsAncestor(ctx, began, c.base); is || err != nil {
		return err
	}
	return &log.RecordError{Commit: c.view.Commit, Path: board.RecordPath(board.TaskDir, c.task.ID),
		Err: fmt.Errorf("review_base %s is not on %s: the reviewer was not shown what came before it", began.Short(), c.view.State.Config().IntegrationBranch)}
}

// treeOf returns the tree of the candidate.
func (c *candidate) treeOf(ctx context.Context, b *gitboard.Board) (plumbing.OID, error) {
	if c.tree == "" {
		o, err := b.Repo().Object(ctx, string(c.commit)+"^{tree}")
		if err != nil {
			return "", err
		}
		c.tree = o.OID
	}
	return c.tree, nil
}

func distinct(paths []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(paths)))
}

// drift counts the commits that integration gained since the task's base.
func drift(ctx context.Context, repo *git.Repo, t *board.Task, tip plumbing.OID) (int, error) {
	if _, err := repo.Object(ctx, t.BaseCommit); errors.Is(err, git.ErrNotFound) {
		return 0, nil // its base is in another clone only
	}
	return repo.History().CountCommits(ctx, plumbing.OID(t.BaseCommit), tip)
}

// write stores the merge commit; no ref points to it yet.
func (c *candidate) write(ctx context.Context, b *gitboard.Board, tree plumbing.OID, actor board.Actor) (plumbing.OID, error) {
	who, err := b.Committer()
	if err != nil {
		return "", err
	}
	now := b.Now()
	name, email := log.Author(actor)
	o := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{
		Tree:      tree,
		Parents:   []plumbing.OID{c.base, plumbing.OID(c.task.ReviewCommit)},
		Author:    plumbing.Signature{Name: name, Email: email, When: now},
		Committer: plumbing.Signature{Name: who.Name, Email: who.Email, When: now},
		Message: fmt.Sprintf("Merge task %s: %s\n\nLiza-Task: %s\nReviewed-by: %s <%s@liza>\nLiza-Approval: %s\n",
			c.task.ID, text.Line(c.task.Description, 100), c.task.ID, c.task.ApprovedBy, c.task.ApprovedBy, c.view.Commit),
	}))
	if err := b.Repo().WriteObjects(ctx, []plumbing.Object{o}); err != nil {
		return "", err
	}
	return o.OID, b.Repo().Upkeep().Keep(ctx, o.OID) // its tree was written by git
}

// payload returns the operation that records the candidate's landing.
func (c *candidate) payload(test string) *board.Merge {
	return &board.Merge{
		About: board.About{Task: c.task.ID}, ReviewCommit: c.task.ReviewCommit, Before: string(c.base),
		MergeCommit: string(c.commit), MergeType: c.kind, Drift: c.drift, Test: test,
	}
}

// failure returns the operation that records that the candidate did not land.
func (c *candidate) failure(how, test string) *board.Merge {
	return &board.Merge{
		About: board.About{Task: c.task.ID}, ReviewCommit: c.task.ReviewCommit, Before: string(c.base),
		Drift: c.drift, Test: test, Failure: how,
	}
}
