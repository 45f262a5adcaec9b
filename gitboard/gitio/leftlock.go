package gitio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Git takes a lock by making a file <name>.lock, which a git that is killed leaves behind. Then nobody can write what
// it protects until somebody removes it. A lock is left when no process is there any more that may have made it: a git
// of this repository, of the user that the file belongs to, that ran when the file was first seen. Who can't see the
// processes removes none.

// lockWatch is how long a writer looks at a lock that is in its way before it removes it. That is much longer than a
// git holds one, for those that nobody here can see: outside a container, on another machine.
const lockWatch = 2 * time.Second

// LockAge is how old a lock must be to count as left for those who only look once.
const LockAge = 10 * time.Second

// BusyError is an update that locks were in the way of.
type BusyError struct{ Paths []string }

// Error names the first lock.
func (e *BusyError) Error() string { return fmt.Sprintf("%v: %s", ErrBusy, e.Paths[0]) }

// Unwrap returns ErrBusy.
func (e *BusyError) Unwrap() error { return ErrBusy }

// awaitLocks waits until one of the locks has been let go, or removes those that are left. It reports whether it is
// worth trying again: not when all of them may still be held.
func (r *Repo) awaitLocks(ctx context.Context, paths []string) bool {
	seen := map[string]os.FileInfo{}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			return true
		}
		seen[path] = info
	}
	since := uptime()
	deadline := time.After(lockWatch)
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
				held := r.removeLock(path, was, since)
				free = free || held == nil || endStranded(ctx, held, path, was)
			}
			return free
		}
	}
}

// endStranded ends a git that waits for a stopped process with the locks of a transaction, and reports whether it has
// let the lock go. A git that is asked to end removes its locks itself; its parent, once it continues, finds that
// nothing was moved.
func endStranded(ctx context.Context, why error, path string, was os.FileInfo) bool {
	held := (*HeldError)(nil)
	if !errors.As(why, &held) || held.stranded == 0 {
		return false
	}
	git, err := os.FindProcess(held.stranded)
	if err != nil || terminate(git) != nil {
		return false
	}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	deadline := time.After(lockWatch)
	for sameLock(path, was) {
		select {
		case <-look.C:
		case <-ctx.Done():
			return false
		case <-deadline:
			return false
		}
	}
	return true
}

// awaitBusy is awaitLocks for the locks that an error names; false for any other error.
func (r *Repo) awaitBusy(ctx context.Context, err error) bool {
	busy := (*BusyError)(nil)
	return errors.As(err, &busy) && r.awaitLocks(ctx, busy.Paths)
}

// sameLock reports whether a lock is still the one that was seen.
func sameLock(path string, was os.FileInfo) bool {
	now, err := os.Lstat(path)
	return err == nil && os.SameFile(was, now) && was.ModTime().Equal(now.ModTime())
}

// HeldError is a lock that a process may still hold, or of which nobody can see whether one does.
type HeldError struct {
	Path string
	By   string // "git gc, process 12"; "" where that can't be seen
	// Young says that it was made a moment ago: nobody has looked for processes.
	Young bool
	// stranded is the number of a git that waits for a stopped process in the middle of a transaction, 0 for none.
	stranded int
}

// Error says who may hold it.
func (e *HeldError) Error() string {
	if e.By == "" {
		return fmt.Sprintf("whether a process holds %s can't be seen here", e.Path)
	}
	return fmt.Sprintf("%s may be held by %s", e.Path, e.By)
}

// Left returns nil for a file that no git of this repository can be writing to any more, judged by its age (at least
// age, which is as long as the clock of the file says) and by the processes that run; else why not.
func (r *Repo) Left(path string, age time.Duration) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	_, err = r.left(path, info, age)
	return err
}

// left also returns when the lock was made at the latest, since the boot: a process that was
// started after that does not hold it.
func (r *Repo) left(path string, info os.FileInfo, age time.Duration) (made time.Duration, err error) {
	// Nobody writes in the future: then a clock has jumped, and the processes alone decide.
	old, made := time.Since(info.ModTime()), uptime()
	if old >= 0 {
		if old < age {
			return 0, &HeldError{Path: path, By: fmt.Sprintf("the process that made it %s ago", old.Round(time.Millisecond)), Young: true}
		}
		const grain = 2 * time.Second
		made -= old - grain
	}
	return made, r.holder(path, info, made)
}

// ClearLock removes a lock that is left, as Left says; nil when it has gone.
func (r *Repo) ClearLock(path string, age time.Duration) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	made, err := r.left(path, info, age)
	if err != nil {
		return err
	}
	return r.removeLock(path, info, made)
}

// ClearRefLocks removes the locks that are left, as Left says, of those that keep refs from being
// moved. It removes what it can.
func (r *Repo) ClearRefLocks(age time.Duration, refs ...string) {
	names := slices.Clone(wholeLocks)
	for _, ref := range refs {
		names = append(names, ref+".lock")
	}
	busy := (*BusyError)(nil)
	if errors.As(r.locked(names...), &busy) {
		for _, path := range busy.Paths {
			_ = r.ClearLock(path, age)
		}
	}
}

// removeLock removes a lock that was seen, unless a process that ran then may hold it. Processes of git-liza do that
// one after the other, so that none removes the lock that another writer has taken after it was removed.
func (r *Repo) removeLock(path string, was os.FileInfo, seen time.Duration) error {
	if err := r.holder(path, was, seen); err != nil {
		return err
	}
	// What happens between looking and removing is kept apart by this lock alone; it takes microseconds.
	dir := filepath.Join(r.common, "liza")
	turn, err := OpenQueue(filepath.Join(dir, "unlocking"))
	if err != nil {
		return storageError(dir, err)
	}
	defer turn.Close()
	if err := TryQueue(turn); err != nil {
		return &HeldError{Path: path, By: "another git-liza, which looks whether it is left"}
	}
	if !sameLock(path, was) {
		return nil
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return storageError(filepath.Dir(path), err)
	}
	return nil
}

// holder returns a HeldError for a process that ran at a time since the boot and may hold a lock, nil when there is none.
func (r *Repo) holder(path string, lock os.FileInfo, at time.Duration) error {
	processes, known := r.processes()
	if !known {
		return &HeldError{Path: path}
	}
	user := userOf(lock)
	for _, p := range processes {
		if !p.reads() && p.User == user && p.Started <= at {
			held := &HeldError{Path: path, By: fmt.Sprintf("%s, process %d", strings.TrimSpace("git "+p.Command), p.PID)}
			if p.Stranded && p.Command == "update-ref" {
				held.stranded = p.PID
			}
			return held
		}
	}
	return nil
}
