package locks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/gitboard/queue"
)

// ErrBusy means that another git process did not release a lock in time. Nothing was changed;
// retrying is safe.
var ErrBusy = errors.New("locked by another git process")

// Age is the age at which a lock counts as stale for callers that look only once.
const Age = 10 * time.Second

// Whole are the lock files that keep every ref from being moved, relative to the common directory.
var Whole = []string{"packed-refs.lock", "packed-refs.new", "reftable/tables.list.lock"}

// Patience limits the wait for locks of other processes. A zero stands for the default.
type Patience struct {
	Git time.Duration // git itself waits so long for a ref's lock: a second
	// Watch is how long a writer watches a lock in its way before removing it: two seconds. This is
	// much longer than a git holds one, to allow for processes that are not visible here: outside
	// the container, or on another machine.
	Watch time.Duration
}

// OrDefault returns p with the defaults in place of zeros.
func (p Patience) OrDefault() Patience {
	return Patience{Git: cmp.Or(p.Git, time.Second), Watch: cmp.Or(p.Watch, 2*time.Second)}
}

// Repo is a repository whose locks are looked at.
type Repo struct {
	Common   string          // its common git directory
	Places   func() []string // the directories in which git works on it
	Blind    bool            // this process does not see all processes
	Patience Patience
	Queue    func(path string) (*queue.File, error) // opens a file below Common at which processes queue up
}

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

// Find returns a BusyError with the locks that exist, or nil if none does. The names are glob
// patterns relative to the common directory.
func (r *Repo) Find(names ...string) error {
	var paths []string
	for _, name := range names {
		found, _ := fs.Glob(os.DirFS(r.Common), name)
		for _, path := range found {
			paths = append(paths, filepath.Join(r.Common, filepath.FromSlash(path)))
		}
	}
	if len(paths) == 0 {
		return nil
	}
	return &BusyError{Paths: paths}
}

// Outlasts reports whether one of the locks of a BusyError is older than git waits for it. Then the
// lock was in the way, even if a ref has moved since.
func (r *Repo) Outlasts(locked error) bool {
	busy := (*BusyError)(nil)
	return errors.As(locked, &busy) && slices.ContainsFunc(busy.Paths, func(path string) bool {
		info, err := os.Lstat(path)
		return err == nil && time.Since(info.ModTime()) >= r.Patience.Git
	})
}

// Await waits until one of the locks of a BusyError is released, and removes those that are stale. It
// returns whether a retry may succeed: false if all of them may still be held, and for any other
// error. It sets the BusyError's By then.
func (r *Repo) Await(ctx context.Context, err error) bool {
	busy := (*BusyError)(nil)
	if !errors.As(err, &busy) {
		return false
	}
	seen := map[string]os.FileInfo{}
	for _, path := range busy.Paths {
		info, err := os.Lstat(path)
		if err != nil {
			return true
		}
		seen[path] = info
	}
	since := proc.Uptime() // those that started later do not hold the locks
	deadline := time.After(r.Patience.Watch)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-look.C:
			for path, was := range seen {
				if !same(path, was) {
					return true
				}
			}
		case <-deadline:
			free := false
			for path, was := range seen {
				err := r.remove(path, was, min(since, madeBy(was)))
				if held := (*HeldError)(nil); errors.As(err, &held) {
					busy.By = held.By
				}
				free = free || err == nil
			}
			return free
		}
	}
}

// same reports whether the lock at path is still the one seen before.
func same(path string, was os.FileInfo) bool {
	now, err := os.Lstat(path)
	return err == nil && os.SameFile(was, now) && was.ModTime().Equal(now.ModTime())
}

// Left returns nil if no git of this repository can still be writing to the file, or a HeldError
// with the reason. It judges by the file's age, which must be at least age unless its clock is
// ahead, and by the running processes.
func (r *Repo) Left(path string, age time.Duration) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	// A time in the future means that a clock has jumped; then the processes alone decide.
	if old := time.Since(info.ModTime()); old >= 0 && old < age {
		return &HeldError{Path: path, By: fmt.Sprintf("the process that made it %s ago", old.Round(time.Millisecond)), Young: true}
	}
	return r.holder(path, info, madeBy(info))
}

// madeBy returns the latest time since the boot at which a lock was made, by the file's time: a
// process started later does not hold it. It is now if the file's time is in the future, because a
// clock has jumped.
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
func (r *Repo) Clear(path string, age time.Duration) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	if err := r.Left(path, age); err != nil {
		return err
	}
	return r.remove(path, info, madeBy(info))
}

// ClearRefs removes the locks that keep refs from being moved and are stale by Left's rule. It
// ignores errors.
func (r *Repo) ClearRefs(age time.Duration, refs ...string) {
	names := slices.Clone(Whole)
	for _, ref := range refs {
		names = append(names, ref+".lock")
	}
	busy := (*BusyError)(nil)
	if errors.As(r.Find(names...), &busy) {
		for _, path := range busy.Paths {
			_ = r.Clear(path, age)
		}
	}
}

// remove removes a lock that was seen before, unless a process that ran at that time may hold it.
func (r *Repo) remove(path string, was os.FileInfo, seen time.Duration) error {
	if err := r.holder(path, was, seen); err != nil {
		return err
	}
	// Only the lock on this file covers the microseconds between the check and the removal.
	dir := filepath.Join(r.Common, "liza")
	turn, err := r.Queue(filepath.Join(dir, "unlocking"))
	if err != nil {
		return disk.NewStorageError(dir, err)
	}
	defer turn.Close()
	if err := turn.Try(); err != nil {
		return &HeldError{Path: path, By: "another git-liza, which looks whether it is left"}
	}
	if !same(path, was) {
		return nil
	}
	return disk.NewStorageError(filepath.Dir(path), disk.Remove(path))
}

// holder returns a HeldError for a process that may hold the lock, was running at the given time
// since the boot, and still runs; nil if there is none.
func (r *Repo) holder(path string, lock os.FileInfo, at time.Duration) error {
	processes, known := r.Processes()
	if !known {
		return &HeldError{Path: path}
	}
	user := proc.UserOf(lock)
	for _, p := range processes {
		if !p.Reads() && p.User == user && p.Started <= at {
			return &HeldError{Path: path, By: p.String()}
		}
	}
	return nil
}
