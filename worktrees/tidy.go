package worktrees

import (
	"context"
	"errors"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Tidy removes the worktree and branch of a task that no longer needs them. Work that exists only
// there goes to the attic first. It can be repeated.
func Tidy(ctx context.Context, b *gitboard.Board, v *gitboard.View, actor board.Actor, task string) error {
	s, err := Open(ctx, b)
	if err != nil {
		return err
	}
	return s.Tidy(ctx, v, task, actor)
}

// Later counts the commits on a task's branch after the approved one, which do not land with it.
// kept is their place in the attic.
func Later(ctx context.Context, b *gitboard.Board, v *gitboard.View, t *board.Task) (n int, kept string, err error) {
	tip, err := b.Repo().Ref(ctx, v.TaskRef(t.ID))
	if err != nil || tip.IsZero() || tip == plumbing.OID(t.ReviewCommit) {
		return 0, "", err
	}
	n, err = b.Repo().History().CountCommits(ctx, plumbing.OID(t.ReviewCommit), tip)
	return n, "they are kept in " + plumbing.AtticPrefix + t.ID, err
}

func (s *Project) Tidy(ctx context.Context, v *gitboard.View, task string, actor board.Actor) error {
	return errors.Join(s.clearAway(ctx, v, task, actor, nil), s.ClearBranch(ctx, v, task))
}

// ClearBranch deletes a task's branch unless it is checked out somewhere or the task was never
// claimed. Commits that neither integration nor a submission nor the attic holds go to the attic in
// the same transaction.
func (s *Project) ClearBranch(ctx context.Context, v *gitboard.View, task string) error {
	if !owned(v, task) {
		return nil
	}
	return s.b.Try(ctx, "removing "+v.TaskBranch(task), func(ctx context.Context) (bool, error) {
		tip, err := s.repo.Ref(ctx, v.TaskRef(task))
		if err != nil || tip.IsZero() {
			return true, err
		}
		l, err := s.look(ctx, v, task)
		if err != nil || l.Elsewhere != "" || l.Ours {
			return true, err
		}
		updates, err := s.keepBranch(ctx, v, task, tip)
		if err != nil {
			return false, err
		}
		updates = append(updates, plumbing.RefUpdate{Ref: v.TaskRef(task), Old: tip, New: plumbing.ZeroOID})
		return s.moved(ctx, updates)
	})
}

// moved moves refs to keep work. It returns false, and no error, if one of them was not at the old
// value of its update.
func (s *Project) moved(ctx context.Context, updates []plumbing.RefUpdate) (bool, error) {
	err := s.repo.UpdateRefs(ctx, updates, "git liza: keep work")
	if errors.Is(err, git.ErrRefMoved) {
		return false, nil
	}
	return true, err
}

// keepBranch returns the update that puts a branch's commits into the attic; none if something else
// holds them.
func (s *Project) keepBranch(ctx context.Context, v *gitboard.View, task string, tip plumbing.OID) ([]plumbing.RefUpdate, error) {
	landed, err := s.holding(ctx, v)
	if err != nil {
		return nil, err
	}
	if held, err := s.heldBy(ctx, tip, []plumbing.OID{landed}); held || err != nil {
		return nil, err
	}
	attic, err := s.attic(ctx, task)
	if err != nil {
		return nil, err
	}
	_, reviews, err := s.numbered(ctx, plumbing.ReviewPrefix+task)
	if err != nil {
		return nil, err
	}
	holders := attic.commits
	for _, c := range reviews {
		holders = append(holders, c)
	}
	if held, err := s.heldBy(ctx, tip, holders); held || err != nil {
		return nil, err
	}
	return []plumbing.RefUpdate{{Ref: plumbing.AtticRef(task, attic.next), Old: plumbing.ZeroOID, New: tip}}, nil
}
