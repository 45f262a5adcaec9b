package worktrees

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Share returns the update that gives other clones the branch of a task whose work is in this one;
// none if the board isn't shared.
func Share(ctx context.Context, b *gitboard.Board, v *gitboard.View, t *board.Task) ([]plumbing.RefUpdate, error) {
	s, err := Open(ctx, b)
	if err != nil {
		return nil, err
	}
	return s.share(ctx, v, t)
}

func (s *Project) share(ctx context.Context, v *gitboard.View, t *board.Task) ([]plumbing.RefUpdate, error) {
	if s.b.Remote() == "" || t.Clone != s.Clone {
		return nil, nil
	}
	tip, err := s.repo.Ref(ctx, v.TaskRef(t.ID))
	if err != nil || tip.IsZero() {
		return nil, err
	}
	return s.b.Sharing().Publish(ctx, t.ID, tip)
}

// ForReview returns the path of a submission's files. If the author's worktree is in another clone,
// it makes one here at the same path, detached at the submitted commit, for this clone's reviewers.
// It replaces a worktree of an earlier submission; changes made there go to the attic.
func ForReview(ctx context.Context, b *gitboard.Board, v *gitboard.View, t *board.Task) (string, error) {
	s, err := Open(ctx, b)
	if err != nil {
		return "", err
	}
	if s.Bare || !s.Elsewhere(t) || t.Status != board.ReadyForReview {
		return s.Path(t.ID), nil
	}
	commit := plumbing.OID(t.ReviewCommit)
	if has, err := b.Sharing().Brings(ctx, t.ReviewCommit); !has {
		return "", orMissing(err, t)
	}
	var path string
	err = b.Try(ctx, "making the worktree of "+t.ID, func(ctx context.Context) (bool, error) {
		l, err := s.look(ctx, v, t.ID)
		if err != nil {
			return false, err
		}
		if path = l.Path; l.Ours {
			c, err := s.repo.Worktree(l.Path).Checkout(ctx)
			if err != nil || c.Head == commit {
				return true, err
			}
			return false, s.clearAway(ctx, v, t.ID, s.Self(ctx), nil)
		}
		if l.InTheWay {
			return true, l.Blocked(t.ID)
		}
		made, err := s.candidate(ctx, v, t.ID, commit)
		if err != nil {
			return false, err
		}
		err = made.move(ctx, v, t.ID)
		if err == nil {
			err = forget(made.recordFile())
		}
		if err = errors.Join(err, made.discard(ctx)); err == nil || !present(l.Path) {
			return true, err
		}
		return false, nil // another process has made one meanwhile
	})
	return path, err
}

func orMissing(err error, t *board.Task) error {
	if err != nil {
		return err
	}
	return about(board.CodeMissing, t.ID, "the submitted commit %.10s of %s is not in this clone", t.ReviewCommit, t.ID).Way(board.ActOn("sync"))
}

// TidyAll removes the worktrees and branches of finished tasks, which remain here if another clone
// finished them. It returns the tasks, and continues after one that it can't tidy. A person's worktree
// or checkout is noted, and left.
func TidyAll(ctx context.Context, b *gitboard.Board, actor board.Actor) (tidied []string, err error) {
	s, err := Open(ctx, b)
	if err != nil {
		return nil, err
	}
	whole, cancel := Steady(ctx) // half a removal would need a repair
	defer cancel()
	v, err := b.View(whole)
	if err != nil {
		return nil, err
	}
	tasks := v.State.TaskBranches()
	branches, err := s.repo.Refs(ctx, plumbing.BranchRef(tasks.Dir()))
	if err != nil {
		return nil, err
	}
	list, err := List(ctx, b)
	if err != nil {
		return nil, err
	}
	over := map[string]bool{}
	for _, e := range list {
		over[e.Task] = e.Exists
	}
	for _, r := range branches {
		if id, is := tasks.Task(plumbing.BranchName(r.Name)); is {
			over[id] = true
		}
	}
	var failed error
	for _, t := range v.State.Tasks() {
		if !over[t.ID] || !t.Status.Terminal() || !owned(v, t.ID) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return tidied, errors.Join(failed, err)
		}
		if err := s.Tidy(whole, v, t.ID, actor); err != nil {
			failed = errors.Join(failed, fmt.Errorf("worktree or branch of %s could not be removed (git liza doctor looks at it): %w", t.ID, err))
			continue
		}
		l, err := s.look(whole, v, t.ID)
		if err == nil {
			err = l.Blocked(t.ID)
		}
		left := (*board.Refusal)(nil)
		switch {
		case errors.As(err, &left):
			s.b.Mention("not tidied: " + left.Message)
		case err != nil:
			return tidied, errors.Join(failed, err)
		default:
			tidied = append(tidied, t.ID)
		}
	}
	return tidied, errors.Join(failed, v.State.Err())
}
