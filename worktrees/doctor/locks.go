package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
)

// lockFiles are the locks that git keeps at certain places. packed-refs.new acts as one: git
// creates it only if it doesn't exist.
var lockFiles = []string{
	"*.lock", "packed-refs.new", "worktrees/*/*.lock", "reftable/*.lock", "info/*.lock",
	"objects/*.lock", "objects/info/*.lock", "objects/info/commit-graphs/*.lock", "objects/pack/multi-pack-index.lock",
}

// lockFolders are those below which any file may have a lock: a reflog that is left locked keeps
// `git gc` from doing anything.
var lockFolders = []string{"refs", "logs", "worktrees/*/refs", "worktrees/*/logs"}

// locks looks for lock files that no process can still hold. If that can't be determined, only a
// person may remove the lock.
func (d *diagnosis) locks(context.Context) error {
	matching := func(patterns []string) (paths []string) {
		for _, pattern := range patterns {
			matches, _ := filepath.Glob(filepath.Join(disk.EscapeGlob(d.repo.CommonDir()), filepath.FromSlash(pattern)))
			paths = append(paths, matches...)
		}
		return paths
	}
	files := matching(lockFiles)
	var unread error
	for _, folder := range matching(lockFolders) {
		unread = errors.Join(unread, filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // deleted meanwhile
			}
			if err == nil && !e.IsDir() && strings.HasSuffix(path, ".lock") {
				files = append(files, path)
			}
			return err
		}))
	}
	for _, path := range files {
		info, statErr := os.Lstat(path)
		if statErr != nil {
			continue
		}
		held := (*git.HeldError)(nil)
		if errors.As(d.repo.Locks().Left(path, git.LockAge), &held) && held.Young {
			continue
		}
		p := Problem{
			Kind: StaleLock, Path: path, Text: fmt.Sprintf("the lock %s is from %s", path, info.ModTime().UTC().Format(time.RFC3339)),
		}
		if held == nil {
			p.Text += ", and no git that may hold it is left"
			p.Fix = func(context.Context) error { return d.repo.Locks().Clear(path, git.LockAge) }
		} else {
			p.Hint = held.Error() + "; make sure that no git process runs in this repository: then the file may go"
		}
		d.add(p)
	}
	return unread
}

// mergeLease looks for a merge lease whose holder ended, or has a clock that is ahead.
func (d *diagnosis) mergeLease(ctx context.Context) error {
	held, err := d.v.Lease(ctx, plumbing.MergeHolder)
	if broken := (*git.BrokenRefError)(nil); errors.As(err, &broken) {
		return nil // reported with the other leases
	}
	if err != nil || held == nil {
		return err
	}
	live, ahead := held.Live(d.b.Now()), held.Ahead(d.b.Now())
	if live && ahead == 0 {
		return nil
	}
	what := "a human's commit"
	if len(held.Tasks) > 0 {
		what = strings.Join(held.Tasks, ", ")
	}
	text := fmt.Sprintf("the lease of %s, who merged %s, expired at %s, and is still here", held.By(), what, held.Expires)
	if d.b.Now().Before(held.Expires.Std()) {
		text = fmt.Sprintf("the process by which %s merged %s has ended, and its lease is still here", held.By(), what)
	}
	if live {
		text = fmt.Sprintf("the lease of %s, who merges %s, is %s ahead of this clock: until it expires or is renewed, it is unknown whether that merge was killed, and nothing else is merged", held.By(), what, board.Span(ahead))
	}
	if held.Damaged {
		text = "the lease of merges can't be read"
	}
	d.add(Problem{
		Kind: ExpiredMerge, Text: text,
		Fix: func(ctx context.Context) error {
			err := d.b.Log().Store().UpdateRefs(ctx, []plumbing.RefUpdate{lease.Fence(plumbing.MergeHolder, held)}, "git liza: an expired merge lease")
			if errors.Is(err, git.ErrRefMoved) {
				return nil // somebody has taken it, or it no longer exists
			}
			return err
		},
	})
	return nil
}

// leases looks for agents' leases that were renewed with a clock that is ahead: if the agent has
// ended, other agents don't get its work for as long.
func (d *diagnosis) leases(ctx context.Context) error {
	all, err := d.v.Leases(ctx)
	if err != nil {
		return err
	}
	for _, agent := range slices.Sorted(maps.Keys(all)) {
		held := all[agent]
		ahead := held.Ahead(d.b.Now())
		if plumbing.IsHolder(agent) || ahead == 0 || !held.Live(d.b.Now()) {
			continue
		}
		kept := "its id"
		if held.Task != "" {
			kept = held.Task
		}
		d.add(Problem{
			Kind: ClockSkew,
			Text: fmt.Sprintf("the lease of %s is %s ahead of this clock: until it expires or is renewed, nobody else gets %s, even if %s is gone", agent, board.Span(ahead), kept, agent),
			Hint: fmt.Sprintf("compare the clocks of both machines: date -u; if you know that its process is gone: git liza recover-agent %s --force", agent),
		})
	}
	return nil
}
