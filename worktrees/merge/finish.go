package merge

import (
	"context"
	"errors"
	"slices"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// Finished is a merge whose second half was made up for.
type Finished struct {
	Task           string
	Commit         gitio.OID // that brought the work to integration
	Type           string    // board.FastForward or board.MergeCommitType
	Done           *gitboard.Done
	BroughtForward []string
	Warnings       []string
}

func (f *Finished) result() *Result {
	if f == nil {
		return nil
	}
	return &Result{Done: f.Done, Merged: true, Commit: f.Commit, Type: f.Type, BroughtForward: f.BroughtForward, Warnings: f.Warnings}
}

// Finish makes up for merges that a crash cut in half: integration has the approved commit, and the board
// doesn't say so. It returns what it finished.
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
		f, err := finish(ctx, b, actor, t.ID, "")
		if err != nil {
			return all, err
		}
		if f != nil {
			all = append(all, *f)
		}
	}
	return all, v.State.Err()
}

// errWhole says that there is no half-state.
var errWhole = errors.New("nothing to finish")

// finish makes up for one task's merge; nil when there is nothing to make up for.
func finish(ctx context.Context, b *gitboard.Board, actor board.Actor, task, request string) (*Finished, error) {
	done, err := b.Do(ctx, gitboard.Request{Actor: actor, ID: request, Intent: func(ctx context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
		p, ref, err := half(ctx, b, v, task)
		if err != nil {
			return nil, nil, err
		}
		return p, []gitio.RefUpdate{ref}, nil
	}})
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
	ctx, cancel := steady(ctx)
	defer cancel()
	f := &Finished{Task: task, Commit: gitio.OID(p.MergeCommit), Type: p.MergeType, Done: done}
	if f.BroughtForward, err = catchUp(ctx, b, done.View); err != nil {
		f.Warnings = append(f.Warnings, "a checkout of integration could not be brought forward: "+err.Error())
	}
	f.Warnings = slices.Concat(f.Warnings, tidy(ctx, b, done.View, actor, task))
	return f, nil
}

// half looks whether integration has a task's approved commit already, and how it came there. errWhole
// when not.
func half(ctx context.Context, b *gitboard.Board, v *gitboard.View, task string) (*board.FinishMerge, gitio.RefUpdate, error) {
	none := gitio.RefUpdate{}
	t := v.State.Task(task)
	if err := v.State.Err(); err != nil {
		return nil, none, err
	}
	if t == nil || t.Status != board.Approved {
		return nil, none, errWhole
	}
	repo, review := b.Repo(), gitio.OID(t.ReviewCommit)
	if _, err := repo.Object(ctx, t.ReviewCommit); errors.Is(err, gitio.ErrNotFound) {
		return nil, none, errWhole
	}
	tip, err := b.Integration(ctx, v)
	if err != nil {
		return nil, none, err
	}
	landed, err := repo.IsAncestor(ctx, review, tip)
	if err != nil {
		return nil, none, err
	}
	if !landed {
		return nil, none, errWhole
	}
	p := &board.FinishMerge{About: board.About{Task: t.ID}, ReviewCommit: t.ReviewCommit, MergeType: board.MergeCommitType}
	by, before, err := broughtBy(ctx, repo, review, tip)
	if err != nil {
		return nil, none, err
	}
	if by == review {
		p.MergeType = board.FastForward
		before = gitio.OID(t.ReviewBase)
	}
	p.MergeCommit = string(by)
	if p.Drift, err = drift(ctx, repo, t, before); err != nil {
		return nil, none, err
	}
	return p, gitio.RefUpdate{Ref: v.IntegrationRef(), Old: tip, New: tip}, nil
}

// broughtBy finds the commit on integration's line of first parents that brought a commit there: the
// oldest that contains it; itself, where it is on that line. before is its first parent.
func broughtBy(ctx context.Context, repo *gitio.Repo, commit, tip gitio.OID) (by, before gitio.OID, err error) {
	since, err := repo.CountCommits(ctx, commit, tip)
	if err != nil {
		return "", "", err
	}
	// All that came after it is at most since commits long.
	line, err := repo.FirstParents(ctx, tip, since+1)
	if err != nil {
		return "", "", err
	}
	if i := slices.Index(line, commit); i >= 0 {
		return commit, "", nil
	}
	// Newest first: those that contain it come first.
	low, high := 0, len(line)
	for high-low > 1 {
		middle := (low + high) / 2
		contains, err := repo.IsAncestor(ctx, commit, line[middle])
		if err != nil {
			return "", "", err
		}
		if contains {
			low = middle
		} else {
			high = middle
		}
	}
	o, err := repo.Object(ctx, string(line[low]))
	if err != nil {
		return "", "", err
	}
	c, err := gitio.DecodeCommit(o)
	if err != nil {
		return "", "", err
	}
	return line[low], c.Parents[0], nil
}
