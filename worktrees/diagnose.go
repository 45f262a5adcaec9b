package worktrees

import (
	"context"
	"errors"
	"slices"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Diagnose checks this clone against the board. It finds what a crash left unfinished and what
// somebody moved, and changes nothing.
func Diagnose(ctx context.Context, b *gitboard.Board) ([]Problem, error) {
	_, nameless := b.Clone().File()
	s, err := at(ctx, b)
	if err != nil {
		return nil, err
	}
	v, err := b.View(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.repo.Records().Worktrees(ctx)
	if cutShort(err) {
		return nil, err
	}
	damaged := s.damagedRecords(err == nil)
	repairable := slices.ContainsFunc(damaged, func(p Problem) bool { return p.Fix != nil })
	switch {
	case repairable || err != nil && len(damaged) > 0:
		return damaged, nil // other findings are reliable only after their repair
	case err != nil:
		return nil, err
	}
	if nameless {
		damaged = append(damaged, s.damagedClone())
	}
	d := &diagnosis{
		found: damaged,
		site:  s, v: v, all: all, real: map[string]string{},
		unread: map[string]*git.BrokenRefError{}, reported: map[string]bool{}, kept: map[plumbing.OID]bool{},
	}
	for _, look := range []func(context.Context) error{d.brokenRefs, d.missingHome, d.keptFolder, d.tasks, d.submissions, d.folders, d.records, d.branches, d.registrations, d.moves, d.locks, d.mergeLease, d.leases, d.restRefs} {
		if err := look(ctx); err != nil && !d.isReported(err) {
			return nil, err
		}
	}
	return d.found, v.State.Err()
}

// cutShort reports whether an error is no answer: the call was cancelled, or its child was killed.
func cutShort(err error) bool { return errors.Is(err, context.Canceled) || git.Unfinished(err) }

type diagnosis struct {
	*site
	v     *gitboard.View
	all   []git.WorktreeInfo
	real  map[string]string // resolved paths
	found []Problem

	unread   map[string]*git.BrokenRefError // refs that lead nowhere and are not reported yet
	reported map[string]bool                // refs that lead nowhere and are reported
	kept     map[plumbing.OID]bool          // the commits that a broken ref of the attic is about to hold again
}

// layout returns the layout of a task's worktree. Each path is resolved only once: with many
// worktrees that takes most of the time.
func (d *diagnosis) layout(task string) layout {
	return d.site.layout(d.all, task, d.v.TaskBranch(task), func(path string) string {
		real, known := d.real[path]
		if !known {
			real = resolved(path)
			d.real[path] = real
		}
		return real
	})
}

func (d *diagnosis) add(p Problem) { d.found = append(d.found, p) }

// lockFiles are the locks that git keeps at certain places. packed-refs.new acts as one: git
// creates it only if it doesn't exist.
var lockFiles = []string{
	"*.lock", "packed-refs.new", "worktrees/*/*.lock", "reftable/*.lock", "info/*.lock",
	"objects/*.lock", "objects/info/*.lock", "objects/info/commit-graphs/*.lock", "objects/pack/multi-pack-index.lock",
}

// lockFolders are those below which any file may have a lock: a reflog that is left locked keeps
// `git gc` from doing anything.
var lockFolders = []string{"refs", "logs", "worktrees/*/refs", "worktrees/*/logs"}
