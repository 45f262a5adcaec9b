package worktrees

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
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
)

// records looks for records about worktrees that are no longer being made or removed.
func (d *diagnosis) records(context.Context) error {
	entries, err := os.ReadDir(d.claimsDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		token, path := e.Name(), filepath.Join(d.claimsDir(), e.Name())
		if present(filepath.Join(d.root, ".worktrees", claimMark+token)) || present(filepath.Join(d.root, ".worktrees", goneMark+token)) {
			continue
		}
		r := d.left(token, path)
		if info, err := e.Info(); err == nil && strings.HasPrefix(token, ".") && d.b.Now().Sub(info.ModTime()) > time.Minute {
			r = &record{} // about to be complete, or never
		}
		if r == nil {
			continue
		}
		d.add(Problem{
			Kind: LeftRecord, Task: r.Task, Path: path, Text: "a process that made or removed a worktree has died, and " + path + " is left of it",
			Fix: func(context.Context) error { return forget(path) },
		})
	}
	return nil
}

// moves looks for worktrees that are still locked from being moved.
func (d *diagnosis) moves(context.Context) error {
	moving := map[string]bool{}
	entries, _ := os.ReadDir(d.claimsDir()) // without entries, no worktree is being moved
	for _, e := range entries {
		if r, err := d.readRecord(e.Name()); err == nil && r != nil && d.inUse(r) {
			moving[r.Task] = true
		}
	}
	for _, w := range d.all {
		name, below := d.below(w.Path)
		if !below || w.Reason != git.MovingReason || moving[name] || d.passing(w.Path) || !present(w.Path) {
			continue
		}
		d.add(Problem{
			Kind: LeftLock, Task: name, Path: w.Path, Text: fmt.Sprintf("a process that moved the worktree %s has died, and git holds it to be locked", w.Path),
			Fix: func(ctx context.Context) error { return d.repo.Worktree(w.Path).Unlock(ctx) },
		})
	}
	return nil
}

// folders checks the entries of .worktrees.
func (d *diagnosis) folders(ctx context.Context) error {
	if obstacle := (*board.Refusal)(nil); errors.As(d.folderFree(), &obstacle) {
		d.add(Problem{Kind: UnknownWorktree, Path: filepath.Join(d.root, ".worktrees"), Text: obstacle.Message, Hint: cmdline.Hint(obstacle.Hint)})
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(d.root, ".worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(d.root, ".worktrees", e.Name())
		if token, is := strings.CutPrefix(e.Name(), claimMark); is {
			d.leftCandidate(token, path)
		} else if token, is := strings.CutPrefix(e.Name(), goneMark); is {
			d.leftGone(token, path)
		} else if !strings.HasPrefix(e.Name(), ".") {
			if err := d.folder(ctx, e.Name(), path); err != nil {
				return err
			}
		}
	}
	return nil
}

// keptFolder checks the place of the objects that are kept beside git. Writes fail while it is
// taken.
func (d *diagnosis) keptFolder(context.Context) error {
	path := d.repo.Upkeep().KeptDir()
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		d.add(Problem{
			Kind: BlockedFolder, Path: path, Text: fmt.Sprintf("%s is not a directory, and nothing can be written while it is there", path),
			Hint: "move it elsewhere; the directory is made again",
		})
	}
	return nil
}

// left returns the record of who made a temporary worktree; nil if it may still be needed.
func (d *diagnosis) left(token, path string) *record {
	r, err := d.readRecord(token)
	if err != nil {
		return nil
	}
	if r != nil {
		if d.inUse(r) {
			return nil
		}
		return r
	}
	// Without a record, age decides.
	info, err := os.Stat(path)
	if err != nil || d.b.Now().Sub(info.ModTime()) < abandonedAfter {
		return nil
	}
	return &record{}
}

func (d *diagnosis) leftCandidate(token, path string) {
	r := d.left(token, path)
	if r == nil {
		return
	}
	if t := d.v.State.Task(r.Task); t != nil {
		if late := d.unmoved(t); late != nil && late.token == token {
			return // reported with the task
		}
	}
	if r.Task == "" && !git.Made(git.LinkedDir(path)) {
		d.add(unknown(path))
		return
	}
	d.add(Problem{
		Kind: LeftCandidate, Task: r.Task, Path: path, Text: fmt.Sprintf("%s was made for a claim that never came", filepath.Base(path)),
		Fix: func(ctx context.Context) error { return d.removeCandidate(ctx, token) },
	})
}

// leftGone checks a worktree whose removal was not completed.
func (d *diagnosis) leftGone(token, path string) {
	r := d.left(token, path)
	if r == nil {
		return
	}
	p := Problem{Kind: LeftWorktree, Task: r.Task, Path: path, Text: fmt.Sprintf("the removal of the worktree %s did not come to an end", path)}
	if board.ValidTaskID(r.Task) {
		p.Fix = func(ctx context.Context) error {
			if identity(path) == "" { // most of it was removed already
				if err := d.keepModules(ctx, r.Task, path); err != nil {
					return err
				}
				if err := d.repo.Worktree(path).Discard(ctx); err != nil {
					return err // the record names the owner
				}
				return forget(filepath.Join(d.claimsDir(), token))
			}
			// Git moves a worktree first and records that afterwards, and removes only what it has
			// recorded.
			if err := d.repo.Records().Repair(ctx, path); err != nil {
				return err
			}
			return d.finishGone(ctx, d.v, r.Task, token, path, d.self(ctx), nil)
		}
	} else {
		p.Hint = "keep what you need of it; it was a task's worktree once"
	}
	d.add(p)
}

// unknown reports a path in .worktrees that is somebody else's.
func unknown(path string) Problem {
	return Problem{Kind: UnknownWorktree, Path: path, Text: fmt.Sprintf("%s belongs to no task of this board", path), Hint: "keep what you need of it; the board does not know it"}
}

// folder checks a folder with the name of a task.
func (d *diagnosis) folder(ctx context.Context, name, path string) error {
	t := d.v.State.Task(name)
	if t == nil {
		d.add(unknown(path))
		return nil
	}
	l := d.layout(t.ID)
	if p, err := d.unsound(ctx, t.ID, l); err != nil {
		return err
	} else if p != nil {
		d.add(*p)
		return nil
	}
	switch {
	case l.inTheWay && !live(t.Status), l.theirs != "" && t.Status.Terminal(): // otherwise it was reported already
		obstacle := (*board.Refusal)(nil)
		if errors.As(l.blocked(t.ID), &obstacle) {
			d.add(Problem{Kind: UnknownWorktree, Task: t.ID, Path: path, Text: obstacle.Message, Hint: cmdline.Hint(obstacle.Hint)})
		}
	case l.ours && t.Status.Terminal(): // in other states, the next claim handles it
		d.add(Problem{
			Kind: LeftWorktree, Task: t.ID, Path: path, Text: fmt.Sprintf("%s is %s, and a worktree of it is left", t.ID, t.Status),
			Fix: func(ctx context.Context) error { return d.tidy(ctx, d.v, t.ID, d.self(ctx)) },
		})
	}
	return nil
}

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
		if agent == plumbing.MergeHolder || ahead == 0 || !held.Live(d.b.Now()) {
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
