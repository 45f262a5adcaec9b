package worktrees

import (
	"context"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// KeptPrefix begins the branches that Leave makes of unmerged work: kept/<task>/<n>.
const KeptPrefix = "kept/"

// Unmerged lists the tasks with work in this clone that integration lacks: in a worktree, on a
// branch, in a submission or in the attic.
func Unmerged(ctx context.Context, b *gitboard.Board, actor board.Actor) ([]string, error) {
	s, v, err := openNow(ctx, b)
	if err != nil {
		return nil, err
	}
	var tasks []string
	for _, id := range v.State.List(board.TaskDir) {
		k, err := s.keep(ctx, v, id, actor)
		if err != nil {
			return nil, err
		}
		if k.commit != "" {
			tasks = append(tasks, id)
		}
	}
	kept, err := s.unmergedRefs(ctx, v)
	for _, r := range kept {
		task, _, _ := strings.Cut(strings.TrimPrefix(r.Ref, plumbing.HeadsPrefix+KeptPrefix), "/")
		tasks = append(tasks, task)
	}
	slices.Sort(tasks)
	return slices.Compact(tasks), err
}

// openNow is the project of a board, and the board as it is now.
func openNow(ctx context.Context, b *gitboard.Board) (*Project, *gitboard.View, error) {
	s, err := Open(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	v, err := b.View(ctx)
	return s, v, err
}

// unmergedRefs returns the updates that make branches of the work in the attic and in submissions
// that integration lacks, each commit once.
func (s *Project) unmergedRefs(ctx context.Context, v *gitboard.View) (branches []plumbing.RefUpdate, err error) {
	landed, err := s.holding(ctx, v)
	if err != nil {
		return nil, err
	}
	holders := []plumbing.OID{landed}
	for _, prefix := range []string{plumbing.AtticPrefix, plumbing.ReviewPrefix} {
		refs, err := s.repo.Refs(ctx, prefix)
		if err != nil {
			return nil, err
		}
		slices.Reverse(refs) // the last submission has the ones before it
		for _, r := range refs {
			name := strings.TrimPrefix(r.Name, prefix)
			task, _, _ := strings.Cut(name, "/")
			if t := v.State.Task(task); prefix == plumbing.ReviewPrefix && (t == nil || t.Status == board.Merged) {
				continue // a squash holds its content, too
			}
			held, err := s.heldBy(ctx, r.OID, holders)
			if err != nil {
				return nil, err
			}
			if !held {
				holders = append(holders, r.OID)
				branches = append(branches, plumbing.RefUpdate{Ref: plumbing.BranchRef(KeptPrefix + name), New: r.OID})
			}
		}
	}
	return branches, v.State.Err()
}

// Leave removes the worktrees and branches of all tasks from this clone, then all refs of git liza.
// Unmerged work becomes branches, which it returns by name. It can be repeated until the refs are
// gone.
func Leave(ctx context.Context, b *gitboard.Board, actor board.Actor) (kept []string, err error) {
	s, v, err := openNow(ctx, b)
	if err != nil {
		return nil, err
	}
	for _, id := range v.State.List(board.TaskDir) {
		if err := s.Tidy(ctx, v, id, actor); err != nil {
			return nil, err
		}
	}
	left, err := List(ctx, b)
	if err != nil {
		return nil, err
	}
	for _, e := range left {
		if !e.Exists || e.Task == "" {
			continue
		}
		switch l, err := s.place(ctx, e.Task, ""); {
		case err != nil:
			return nil, err
		case l.Ours: // somebody else's stays
			return nil, board.Refusef(board.CodeInTheWay, "the worktree %s can't be removed", e.Path).Way(board.ActOn("doctor"))
		}
	}
	updates, err := s.unmergedRefs(ctx, v)
	if err != nil {
		return nil, err
	}
	for _, u := range updates {
		kept = append(kept, plumbing.BranchName(u.Ref))
	}
	own, err := s.repo.Refs(ctx, plumbing.OwnPrefix, plumbing.BoardPrefix)
	if err != nil {
		return nil, err
	}
	for _, r := range own {
		updates = append(updates, plumbing.RefUpdate{Ref: r.Name, Old: r.OID})
	}
	return kept, s.repo.UpdateRefs(ctx, updates, "git liza uninstall")
}
