package doctor

import (
	"context"
	"errors"
	"slices"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/worktrees"
)

// Diagnose checks this clone against the board, and changes nothing.
func Diagnose(ctx context.Context, b *gitboard.Board) ([]Problem, error) {
	project, err := worktrees.Open(ctx, b)
	if err != nil {
		return nil, err
	}
	v, err := b.View(ctx)
	if err != nil {
		return nil, err
	}
	d := &diagnosis{Project: project, b: b, repo: b.Repo(), v: v, reported: map[string]bool{}}
	d.all, err = d.repo.Worktrees(ctx)
	if worktrees.CutShort(err) {
		return nil, err
	}
	d.damagedRecords(err == nil)
	repairable := slices.ContainsFunc(d.found, func(p Problem) bool { return p.Fix != nil })
	switch {
	case repairable || err != nil && len(d.found) > 0:
		return d.found, nil // other findings are reliable only after their repair
	case err != nil:
		return nil, err
	}
	d.slotOf = project.Slots(d.all)
	for _, look := range []func(context.Context) error{
		d.brokenRefs, d.missingHome, d.tasks, d.submissions, d.folders, d.leftovers, d.branches, d.registrations, d.locks, d.mergeLease, d.leases,
	} {
		if err := look(ctx); err != nil && !d.isReported(err) {
			return nil, err
		}
	}
	return d.found, v.State.Err()
}

type diagnosis struct {
	*worktrees.Project
	b      *gitboard.Board
	repo   *git.Repo
	v      *gitboard.View
	all    []git.WorktreeInfo
	slotOf func(task, branch string) worktrees.Slot
	found  []Problem

	reported map[string]bool // refs that lead nowhere and are reported
}

// slot describes the path of a task's worktree.
func (d *diagnosis) slot(t *board.Task) worktrees.Slot { return d.slotOf(t.ID, d.v.TaskBranch(t.ID)) }

func (d *diagnosis) add(p Problem) { d.found = append(d.found, p) }

// isReported reports whether an error is that of a broken ref that was reported.
func (d *diagnosis) isReported(err error) bool {
	b := (*git.BrokenRefError)(nil)
	return errors.As(err, &b) && d.reported[b.Ref]
}
