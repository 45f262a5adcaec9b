package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/proc"
)

// Locks are the lock files of gits that work on the repository.
type Locks struct{ repo *Repo }

// Locks returns the repository's lock files.
func (r *Repo) Locks() Locks { return Locks{r} }

// Git takes a lock by creating a file <name>.lock. A git that is killed leaves it behind, and then
// nobody can write what it protects until someone removes it. A lock is stale if no process remains
// that may have made it: a git that works on this repository, runs as the owner of the file, and
// was running when the lock was first seen. If processes are not visible, no lock is removed.

// Patience limits the wait for locks of other processes. A zero stands for the default.
type Patience struct {
	Git time.Duration // git itself waits so long for a ref's lock: a second
	// Watch is how long a writer watches a lock in its way before removing it: two seconds. This is
	// much longer than a git holds one, to allow for processes that are not visible here: outside
	// the container, or on another machine.
	Watch time.Duration
}

func (p Patience) orDefault() Patience {
	return Patience{Git: cmp.Or(p.Git, time.Second), Watch: cmp.Or(p.Watch, 2*time.Second)}
}

// LockAge is the age at which a lock counts as stale for callers that look only once.
const LockAge = 10 * time.Second

// BusyError is an update that was blocked by locks.
type BusyError struct {
	Paths []string
	By    string // the process that may hold one of them, as HeldError.By; "" if unknown
}

// Error names the first lock, and the process that may hold it.
func (e *BusyError) Error() string {
	if e.By == "" {
		return fmt.Sprintf("%v: %s", ErrBusy, e.Paths[0])
	}
	return fmt.Sprintf("%v: %s (%s)", ErrBusy, e.Paths[0], e.By)
}

// Unwrap returns ErrBusy.
func (e *BusyError) Unwrap() error { return ErrBusy }

// awaitLocks waits until one of the locks is released, and removes those that are stale. It returns
// whether a retry may succeed: false if all of them may still be held. It sets By of busy then.
func (r *Repo) awaitLocks(ctx context.Context, busy *BusyError) bool {
	seen := map[string]os.FileInfo{}
	for _, path := range busy.Paths {
		info, err := os.Lstat(path)
		if err != nil {
			return true
		}
		seen[path] = info
	}
	since := proc.Uptime() // those that started later do not hold the locks
	deadline := time.After(r.patience.Watch)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-look.C:
			for path, was := range seen {
				if !sameLock(path, was) {
					return true
				}
			}
		case <-deadline:
			free := false
			for path, was := range seen {
				err := r.removeLock(path, was, min(since, madeBy(was)))
				if held := (*HeldError)(nil); errors.As(err, &held) {
					busy.By = held.By
				}
				free = free || err == nil
			}
			return free
		}
	}
}

// awaitBusy is awaitLocks for the locks of a BusyError; it returns false for any other error.
func (r *Repo) awaitBusy(ctx context.Context, err error) bool {
	busy := (*BusyError)(nil)
	return errors.As(err, &busy) && r.awaitLocks(ctx, busy)
}

// busy returns a BusyError if another process holds a lock in a worktree: of its index, of
// HEAD, or of ORIG_HEAD, without which git neither merges nor resets.
func (w *Worktree) busy(ctx context.Context) error {
	dir, err := w.gitDir(ctx)
	if err != nil {
		return err
	}
	var held []string
	for _, name := range []string{"index.lock", "HEAD.lock", "ORIG_HEAD.lock"} {
		lock := filepath.Join(dir, name)
		if _, err := os.Lstat(lock); err == nil {
			held = append(held, lock)
		}
	}
	if held == nil {
		return nil
	}
	return &BusyError{Paths: held}
}

// free waits until no other git has a lock in a worktree (busy), and removes those
// that killed ones have left. A git that finds a lock may stop halfway, with the files changed
// and HEAD as it was. It returns ErrBusy if a lock is not released in time.
func (w *Worktree) free(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		err := w.busy(ctx)
		if err == nil || !w.repo.awaitBusy(ctx, err) || !MayRetry(ctx, attempt, attempts) {
			return err
		}
	}
}

// sameLock reports whether the lock at path is still the one seen before.
func sameLock(path string, was os.FileInfo) bool {
	now, err := os.Lstat(path)
	return err == nil && os.SameFile(was, now) && was.ModTime().Equal(now.ModTime())
}

// HeldError is a lock that a process may still hold, or for which that can't be determined.
type HeldError struct {
	Path string
	By   string // "git gc, process 12"; "" if it can't be seen
	// Young means that the lock is too new to judge: processes were not examined.
	Young bool
}

// Error names the process that may hold the lock.
func (e *HeldError) Error() string {
	if e.By == "" {
		return fmt.Sprintf("whether a process holds %s can't be seen here", e.Path)
	}
	return fmt.Sprintf("%s may be held by %s", e.Path, e.By)
}

// Left returns nil if no git of this repository can still be writing to the file, or a HeldError
// with the reason. It judges by the file's age, which must be at least age unless its clock is
// ahead, and by the running processes.
func (l Locks) Left(path string, age time.Duration) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	_, err = l.repo.left(path, info, age)
	return err
}

// left also returns the latest time since the boot at which the lock was made: a process started
// later does not hold it.
func (r *Repo) left(path string, info os.FileInfo, age time.Duration) (made time.Duration, err error) {
	// A time in the future means that a clock has jumped; then the processes alone decide.
	if old := time.Since(info.ModTime()); old >= 0 && old < age {
		return 0, &HeldError{Path: path, By: fmt.Sprintf("the process that made it %s ago", old.Round(time.Millisecond)), Young: true}
	}
	made = madeBy(info)
	return made, r.holder(path, info, made)
}

// madeBy returns the latest time since the boot at which a lock was made, by the file's time. It is
// now if the file's time is in the future, because a clock has jumped.
func madeBy(info os.FileInfo) time.Duration {
	const grain = 2 * time.Second
	now, old := proc.Uptime(), time.Since(info.ModTime())
	if old < 0 {
		return now
	}
	return now - old + grain
}

// Clear removes a lock that is stale by Left's rule. It returns nil if the lock is already
// gone.
func (l Locks) Clear(path string, age time.Duration) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	made, err := l.repo.left(path, info, age)
	if err != nil {
		return err
	}
	return l.repo.removeLock(path, info, made)
}

// ClearRefs removes the locks that keep refs from being moved and are stale by Left's rule. It
// ignores errors.
func (l Locks) ClearRefs(age time.Duration, refs ...string) {
	names := slices.Clone(wholeLocks)
	for _, ref := range refs {
		names = append(names, ref+".lock")
	}
	busy := (*BusyError)(nil)
	if errors.As(l.repo.locked(names...), &busy) {
		for _, path := range busy.Paths {
			_ = l.Clear(path, age)
		}
	}
}

// removeLock removes a lock that was seen before, unless a process that ran at that time may hold
// it. Processes of git-liza take turns, so that none removes a lock that another writer has taken
// since the stale one was removed.
func (r *Repo) removeLock(path string, was os.FileInfo, seen time.Duration) error {
	if err := r.holder(path, was, seen); err != nil {
		return err
	}
	// Only the lock on this file covers the microseconds between the check and the removal.
	dir := filepath.Join(r.common, "liza")
	turn, err := r.OpenQueue(filepath.Join(dir, "unlocking"))
	if err != nil {
		return disk.NewStorageError(dir, err)
	}
	defer turn.Close()
	if err := turn.Try(); err != nil {
		return &HeldError{Path: path, By: "another git-liza, which looks whether it is left"}
	}
	if !sameLock(path, was) {
		return nil
	}
	return disk.NewStorageError(filepath.Dir(path), disk.Remove(path))
}

// holder returns a HeldError for a process that may hold the lock, was running at the given time
// since the boot, and still runs; nil if there is none.
func (r *Repo) holder(path string, lock os.FileInfo, at time.Duration) error {
	processes, known := r.processes()
	if !known {
		return &HeldError{Path: path}
	}
	user, ofBoard := proc.UserOf(lock), r.isBoardRefLock(path)
	for _, p := range processes {
		if !p.reads() && p.User == user && (p.Started <= at || locksIndex(p, path)) && !(ofBoard && movesOther(p.Command)) {
			return heldBy(path, p)
		}
	}
	return nil
}

// locksIndex reports whether the lock of an index is that of a commit which runs in its worktree. A
// commit ends at once if it finds the lock of another process. So it has not started after this one
// was made, although the file's time may suggest it: a clock that is set forward makes files old.
func locksIndex(p gitProcess, path string) bool {
	dir, name := filepath.Split(path)
	return p.Command == "commit" && name == "index.lock" && p.Dir != "" && leadsTo(p.Dir, dir)
}

// isBoardRefLock reports whether a lock is one of the board's refs, which no worktree has checked
// out. A commit in a worktree would move its branch.
func (r *Repo) isBoardRefLock(path string) bool {
	name, below := strings.CutPrefix(path, r.common+string(filepath.Separator))
	name = filepath.ToSlash(name)
	parts := strings.Split(name, "/")
	if !below || len(parts) < 3 || parts[0] != "refs" || parts[1] != "liza" && (parts[1] != "heads" || parts[2] != "liza") {
		return false
	}
	heads, _ := filepath.Glob(filepath.Join(disk.EscapeGlob(r.common), "worktrees", "*", "HEAD"))
	for _, head := range append(heads, filepath.Join(r.common, "HEAD")) {
		text, err := os.ReadFile(head)
		if err != nil || strings.Contains(string(text), "liza/") {
			return false
		}
	}
	return true
}

// movesOther reports whether a git command moves no refs but HEAD and the branch that is checked
// out. Such a command may wait in an editor for days.
func movesOther(command string) bool { return command == "commit" || command == "add" }

func heldBy(path string, p gitProcess) *HeldError {
	return &HeldError{Path: path, By: fmt.Sprintf("%s, process %d", strings.TrimSpace("git "+p.Command), p.PID)}
}
