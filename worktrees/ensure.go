package worktrees

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Ensure returns the worktree of a task whose work is kept. A missing worktree is made again from
// the branch.
func (s *Project) Ensure(ctx context.Context, v *gitboard.View, t *board.Task) (string, error) {
	if err := s.needFiles("a worktree"); err != nil {
		return "", err
	}
	var path string
	err := s.b.Try(ctx, "making the worktree of "+t.ID, func(ctx context.Context) (bool, error) {
		l, err := s.look(ctx, v, t.ID)
		if err != nil {
			return false, err
		}
		if l.Ours && s.Elsewhere(t) {
			// A remnant from before the work went to another clone.
			return false, s.makeRoom(ctx, v, t.ID, s.Self(ctx), nil)
		}
		if path = l.Path; l.Ours {
			return true, s.attach(ctx, v, t.ID, path)
		}
		if err := l.Blocked(t.ID); err != nil {
			return false, err
		}
		tip, err := s.WorkTip(ctx, v, t)
		if err != nil {
			return false, err
		}
		return s.remake(ctx, v, t.ID, tip)
	})
	return path, err
}

// attach puts a task's worktree on the task's branch if a claim that was cut short left it detached
// at the branch's tip.
func (s *Project) attach(ctx context.Context, v *gitboard.View, task, path string) error {
	head, branch, err := s.repo.Worktree(path).Head(ctx)
	if err != nil || branch != "" || Midst(path) != "" {
		return err
	}
	tip, err := s.repo.Ref(ctx, v.TaskRef(task))
	if err != nil || tip != head {
		return err
	}
	return s.repo.Worktree(path).AttachHead(ctx, v.TaskRef(task))
}

// remake makes a task's worktree at its branch's tip, unless another process made it or the branch
// moved.
func (s *Project) remake(ctx context.Context, v *gitboard.View, task string, tip plumbing.OID) (made bool, err error) {
	c, err := s.leftFor(ctx, task, tip)
	if c == nil && err == nil {
		c, err = s.candidate(ctx, v, task, tip)
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, c.discard(ctx)) }()
	l, err := s.look(ctx, v, task)
	if err != nil {
		return false, err
	}
	now, err := s.repo.Ref(ctx, v.TaskRef(task))
	if err != nil || l.Ours || now != tip {
		return false, err
	}
	err = c.place(ctx, v, task)
	if errors.Is(err, fs.ErrExist) && identity(s.Path(task)) != "" {
		return false, nil // another process was faster
	}
	return true, err
}

// leftFor finds a candidate for a task that a dead process left, at the right commit.
func (s *Project) leftFor(ctx context.Context, task string, tip plumbing.OID) (*candidate, error) {
	all, err := s.repo.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		token, is := strings.CutPrefix(filepath.Base(w.Path), claimMark)
		if !is || w.Prunable || w.Head != tip || !w.Detached {
			continue
		}
		r, unread := s.readRecord(token)
		if unread != nil || r == nil || r.Task != task || r.Unready || s.inUse(r) {
			continue
		}
		return &candidate{s: s, token: token, path: filepath.Join(s.Folder(), claimMark+token), base: tip, ready: true}, nil
	}
	return nil, nil
}

// WorkTip returns the commit of a task's branch. A missing branch is created again from the board's
// and this clone's records of the work.
func (s *Project) WorkTip(ctx context.Context, v *gitboard.View, t *board.Task) (plumbing.OID, error) {
	tip, err := s.repo.Ref(ctx, v.TaskRef(t.ID))
	if err == nil && tip.IsZero() {
		err = s.room(ctx, v, t.ID)
	}
	if err != nil {
		return "", err
	}
	from, err := s.KnownWork(ctx, t)
	if err != nil {
		return "", err
	}
	if s.Elsewhere(t) {
		seen, err := s.b.Sharing().Published(ctx, t.ID)
		if err != nil {
			return "", err
		}
		if !seen.IsZero() {
			return seen, s.takeOver(ctx, v, t.ID, tip, seen)
		}
	}
	switch {
	case tip.IsZero() && from == "":
		return "", about(board.CodeMissing, t.ID, "the work of %s is not in this clone", t.ID).Advise("%s, or take another task", board.ActOn("sync"))
	case !tip.IsZero() && (from == "" || t.Clone == s.Clone):
		return tip, nil
	case !tip.IsZero():
		// Made in another clone: this clone's branch may be behind its submission.
		if behind, err := s.repo.History().IsAncestor(ctx, tip, from); !behind || tip == from {
			return tip, err
		}
	}
	err = s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: v.TaskRef(t.ID), Old: tip, New: from}}, "git liza: bring the branch back")
	return from, err
}

// takeOver moves a task's branch here to the commit that another clone has published. Commits that
// only the branch here has go to the attic.
func (s *Project) takeOver(ctx context.Context, v *gitboard.View, task string, tip, seen plumbing.OID) error {
	if tip == seen {
		return nil
	}
	updates := []plumbing.RefUpdate{{Ref: v.TaskRef(task), Old: tip, New: seen}}
	if held, err := s.heldBy(ctx, tip, []plumbing.OID{seen}); !held {
		if err != nil {
			return err
		}
		attic, err := s.attic(ctx, task)
		if err != nil {
			return err
		}
		updates = append(updates, plumbing.RefUpdate{Ref: plumbing.AtticRef(task, attic.next), New: tip})
	}
	return s.repo.UpdateRefs(ctx, updates, "git liza: take the branch over")
}

// KnownWork finds the newest commit of a task that is certainly its work: the last submission since
// the task was begun afresh, else the commit where it began; "" if this clone lacks it.
func (s *Project) KnownWork(ctx context.Context, t *board.Task) (plumbing.OID, error) {
	commit := submitted(t)
	if commit == "" && !s.Elsewhere(t) {
		commit = t.BaseCommit
	}
	has, err := s.Has(ctx, commit)
	if err != nil || !has {
		return "", err
	}
	return plumbing.OID(commit), nil
}

// submitted returns the last commit submitted since a task was begun afresh, "" for none.
func submitted(t *board.Task) string {
	if t.ReviewCommit != "" {
		return t.ReviewCommit
	}
	for _, e := range slices.Backward(t.History) {
		switch e.Event {
		case board.EventReady:
			return e.Commit
		case board.EventClaimed, board.EventReassignedAfterReject, board.EventReclaimedAfterExpiry:
			return ""
		}
	}
	return ""
}

// WasSubmitted reports whether work was submitted since a task was begun afresh.
func WasSubmitted(t *board.Task) bool { return submitted(t) != "" }
