package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Untouched reports whether MergeInto can begin in the worktree:
// either nothing is changed there, or every change was left by a MergeInto of commit that was
// killed or ran out of disk space. Git writes the files first, then the index, then the state of
// the open merge.
func (w *Worktree) Untouched(ctx context.Context, commit plumbing.OID) (bool, error) {
	at, err := w.Checkout(ctx)
	if err != nil || len(at.Dirty) == 0 {
		return err == nil, err
	}
	return w.cutMerge(ctx, commit, at)
}

// cutMerge reports whether an interrupted merge left all the changes.
func (w *Worktree) cutMerge(ctx context.Context, commit plumbing.OID, at Checkout) (bool, error) {
	dir, err := w.gitDir(ctx)
	if err != nil || at.Head.IsZero() {
		return false, err
	}
	if _, err := os.Lstat(filepath.Join(dir, "MERGE_HEAD")); !errors.Is(err, fs.ErrNotExist) {
		return false, nil // the merge is open
	}
	// Named "HEAD", ours has the same label in conflict markers as in git-merge.
	child := w.in("merge-tree", mergeTree("HEAD", commit)...)
	merged, _, err := readMergeTree(ctx, child, at.Head, commit)
	if err != nil {
		return false, err
	}
	written, err := w.repo.History().ChangedFiles(ctx, at.Head, merged)
	if err != nil {
		return false, err
	}
	for _, e := range at.Dirty {
		if e.stagedApart() || !slices.Contains(written, e.Path) {
			return false, nil
		}
		if begun, err := w.isBegun(ctx, merged, e.Path); !begun {
			return false, err
		}
	}
	return true, nil
}

// stagedApart reports whether the index holds a change that the file does not: someone staged it.
func (e StatusEntry) stagedApart() bool {
	return !e.Unmerged() && !e.Untracked() && e.Code[0] != ' ' && e.Code[1] != ' '
}

// undoCut reverts what an interrupted merge of commit left. It reports whether there was anything
// to revert.
func (w *Worktree) undoCut(ctx context.Context, commit plumbing.OID) (bool, error) {
	at, err := w.Checkout(ctx)
	if err != nil || len(at.Dirty) == 0 {
		return false, err
	}
	if cut, err := w.cutMerge(ctx, commit, at); err != nil || !cut {
		return false, err
	}
	for _, e := range at.Dirty { // new files would survive the reset
		_ = os.Remove(filepath.Join(w.path, e.Path)) // git refuses to merge again if one stays
	}
	reset := flags(workers, durable, []string{"reset", "--quiet", "--hard", "HEAD"})
	return true, w.in("reset", reset...).run(ctx)
}
