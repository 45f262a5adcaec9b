package merge

import (
	"context"
	"errors"
	"slices"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/worktrees"
)

// Finished is a merge that was completed after a crash.
type Finished struct {
	Landed // of the commit that brought the work to integration
	Task   string
}

func (f *Finished) result() *Result {
	return &Result{Landed: f.Landed, Task: f.Task, Merged: true}
}

// Finish completes merges that a crash interrupted halfway: integration has the approved commit,
// but the board does not record it. It returns the finished merges.
func Finish(ctx context.Context, b *gitboard.Board, actor board.Actor) ([]Finished, error) {
	v, err := b.View(ctx)
	if err != nil {
		return nil, err
	}
	var all []Finished
	for _, t := range v.State.Tasks() {
		if t.Status != board.Approved {
			continue
		}
		f, err := finish(ctx, b, gitboard.Request{Actor: actor}, t.ID)
		if refused := (*board.Refusal)(nil); errors.As(err, &refused) {
			continue // doctor and the merge of the task report it
		}
		if err != nil {
			return all, err
		}
		if f != nil {
			all = append(all, *f)
		}
	}
	return all, v.State.Err()
}

// errWhole means that no merge is half done.
var errWhole = errors.New("nothing to finish")

// finish completes one task's merge; it returns nil if the merge is complete.
func finish(ctx context.Context, b *gitboard.Board, r gitboard.Request, task string) (*Finished, error) {
	done, err := b.Do(ctx, r, func(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		p, ref, err := half(ctx, b, v, task)
		if err != nil {
			return nil, nil, err
		}
		return p, []plumbing.RefUpdate{ref}, nil
	})
	if errors.Is(err, errWhole) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p, is := done.Op.Payload.(*board.FinishMerge)
	if !is {
		return nil, nil // another operation of the same request
	}
	ctx, cancel := worktrees.Steady(ctx)
	defer cancel()
	f := &Finished{Landed: Landed{Done: done, Commit: plumbing.OID(p.MergeCommit), Type: p.MergeType}, Task: task}
	if err := f.catchUp(ctx, b); err != nil {
		f.Warnings = append(f.Warnings, "a checkout of integration could not be brought forward: "+err.Error())
	}
	f.Warnings = slices.Concat(f.Warnings, tidy(ctx, b, done.View, r.Actor, task))
	return f, nil
}

// half reports whether integration already has a task's approved commit, and how; errWhole if it
// doesn't.
func half(ctx context.Context, b *gitboard.Board, v *gitboard.View, task string) (*board.FinishMerge, plumbing.RefUpdate, error) {
	none := plumbing.RefUpdate{}
	t, err := v.State.FindTask(task)
	if err != nil {
		return nil, none, err
	}
	if t.Status != board.Approved {
		return nil, none, errWhole
	}
	repo, review := b.Repo(), plumbing.OID(t.ReviewCommit)
	if _, err := repo.Object(ctx, t.ReviewCommit); errors.Is(err, git.ErrNotFound) {
		return nil, none, errWhole
	}
	tip, err := v.Integration(ctx)
	if err != nil {
		return nil, none, err
	}
	landed, err := repo.History().IsAncestor(ctx, review, tip)
	if err != nil {
		return nil, none, err
	}
	if !landed {
		return nil, none, errWhole
	}
	if err := v.ProveTask(ctx, t.ID); err != nil {
		return nil, none, err
	}
	by, before, err := broughtBy(ctx, b, v, t, tip)
	if err != nil {
		return nil, none, err
	}
	p := &board.FinishMerge{About: board.About{Task: t.ID}, ReviewCommit: t.ReviewCommit, MergeCommit: string(by), MergeType: board.FastForward}
	if by != review {
		p.MergeType, p.Before = board.MergeCommitType, string(before)
	} else {
		before = plumbing.OID(t.ReviewBase)
	}
	if p.Drift, err = drift(ctx, repo, t, before); err != nil {
		return nil, none, err
	}
	return p, plumbing.RefUpdate{Ref: v.IntegrationRef(), Old: tip, New: tip}, nil
}

// broughtBy finds how integration got a commit. Either the commit is on integration's first-parent
// line, or it came with a merge of exactly this commit and the previous tip, with the content that
// git computes for that merge. A commit that came along with another recorded landing counts as the
// former. Anything else proves nothing and is refused.
func broughtBy(ctx context.Context, b *gitboard.Board, v *gitboard.View, t *board.Task, tip plumbing.OID) (by, before plumbing.OID, err error) {
	repo, review := b.Repo(), plumbing.OID(t.ReviewCommit)
	c, err := oldestWith(ctx, repo, review, tip)
	if err != nil || c.OID == review {
		return review, "", err
	}
	if slices.Equal(c.Parents[1:], []plumbing.OID{review}) {
		tree, conflicts, err := repo.History().TryMerge(ctx, c.Parents[0], review)
		if err != nil {
			return "", "", err
		}
		if len(conflicts) == 0 && tree == c.Tree {
			return c.OID, c.Parents[0], nil
		}
	}
	switch recorded, err := landedBefore(ctx, b, v, c.OID); {
	case err != nil:
		return "", "", err
	case recorded:
		return review, "", nil
	}
	return "", "", board.Refusef(board.CodeIntegration, "%s has the approved commit %s of %s by %s, which is not its merge and which no merge or land records",
		v.State.Config().IntegrationBranch, review.Short(), t.ID, c.OID.Short()).Advise("a human looks at %s: %s", c.OID.Short(), board.ActOn("verify"))
}

// landedBefore reports whether the board records the move that brought a commit to integration,
// either the merge of a task or a human's land.
func landedBefore(ctx context.Context, b *gitboard.Board, v *gitboard.View, commit plumbing.OID) (bool, error) {
	operations, err := b.Repo().History().Matching(ctx, v.Commit, `^Liza-Op: \(land\|merge\|revert\)$`)
	if err != nil {
		return false, err
	}
	for _, oid := range operations {
		op, err := b.Operation(ctx, oid)
		if err != nil {
			return false, err
		}
		switch p := op.Payload.(type) {
		case *board.Merge:
			if p.MergeCommit == string(commit) {
				return true, nil
			}
		case *board.Land:
			after, err := b.Repo().History().IsAncestor(ctx, commit, plumbing.OID(p.Commit))
			if err != nil {
				return false, err
			}
			if !after {
				continue
			}
			before, err := b.Repo().History().IsAncestor(ctx, commit, plumbing.OID(p.Before))
			if err != nil || !before {
				return err == nil, err
			} // otherwise it existed already
		}
	}
	return false, nil
}

// oldestWith returns the oldest commit on integration's first-parent line that contains a commit.
func oldestWith(ctx context.Context, repo *git.Repo, commit, tip plumbing.OID) (plumbing.Commit, error) {
	since, err := repo.History().CountCommits(ctx, commit, tip)
	if err != nil {
		return plumbing.Commit{}, err
	}
	// At most since commits can follow it.
	line, err := repo.History().FirstParents(ctx, tip, since+1)
	if err != nil {
		return plumbing.Commit{}, err
	}
	if slices.Contains(line, commit) {
		return plumbing.Commit{OID: commit}, nil
	}
	// Newest first, so those that contain it come first.
	low, high := 0, len(line)
	for high-low > 1 {
		middle := (low + high) / 2
		contains, err := repo.History().IsAncestor(ctx, commit, line[middle])
		if err != nil {
			return plumbing.Commit{}, err
		}
		if contains {
			low = middle
		} else {
			high = middle
		}
	}
	o, err := repo.Object(ctx, string(line[low]))
	if err != nil {
		return plumbing.Commit{}, err
	}
	return plumbing.DecodeCommit(o)
}
