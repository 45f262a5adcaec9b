package queue

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

var (
	// ErrLate means that the wait took too long.
	ErrLate = errors.New("the queue is too long")
	// ErrReplaced means that later processes queue at another file, because this one was dropped.
	ErrReplaced = errors.New("the queue has moved to another file")
)

// File is an open file at which processes queue up.
type File struct {
	path string
	file *os.File
}

// Open opens the file, and creates it if it does not exist. makeDir makes its directory. The error is
// errors.ErrUnsupported if files can't be locked on this system.
func Open(path string, makeDir func(dir string) error) (*File, error) {
	if !canLock {
		return nil, errors.ErrUnsupported
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if errors.Is(err, fs.ErrNotExist) && makeDir(filepath.Dir(path)) == nil {
		file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	}
	if err != nil {
		return nil, err
	}
	return &File{path, file}, nil
}

// Try takes the lock, or returns ErrHeld if another process has it. The lock lasts until Close or
// the end of the process.
func (f *File) Try() error { return lockFile(f.file, false) }

// Close closes the file, and gives its lock back. Closing alone would not: a child that is just
// being started has the file, too, until it runs its program.
func (f *File) Close() error {
	unlockFile(f.file)
	return f.file.Close()
}

// Current reports whether the file is still the one at its path, where later processes queue up.
func (f *File) Current() bool {
	own, err := f.file.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(f.path)
	return err == nil && os.SameFile(own, now)
}

// Drop removes the file from its path, so that later processes queue at a new one.
func (f *File) Drop() {
	if f.Current() {
		_ = os.Remove(f.path)
	}
}

// Touch shows waiting processes that the holder of the lock makes progress.
func (f *File) Touch() { _, _ = f.file.WriteAt([]byte{'\n'}, 0) }

// Beat touches the file now and at intervals until stop is called.
func (f *File) Beat(every time.Duration) (stop func()) {
	f.Touch()
	ticker, ended, done := time.NewTicker(every), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ticker.C:
				f.Touch()
			case <-ended:
				return
			}
		}
	}()
	return func() { ticker.Stop(); close(ended); <-done }
}

// touched returns the time at which a process last got the lock or showed progress.
func (f *File) touched() time.Time {
	info, err := f.file.Stat()
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Wait limits Await's patience. The zero value waits for the lock until the context ends.
type Wait struct {
	// Release waits until no process has the lock. All that wait so are woken together, and keep
	// others from the lock until they close the file.
	Release bool
	Most    time.Duration // 0 for no limit
	// A holder that has not touched the file for Missed times Beat is stuck. Beat is 0 for a holder
	// that never counts as stuck.
	Beat   time.Duration
	Missed int
}

// Await waits for the lock. After an error the file is closed, once the lock is granted if need be.
//
// Errors: that of the context; ErrLate; ErrReplaced, also if the holder of the lock was stuck and the
// file was dropped for that; another one if files can't be locked.
func (f *File) Await(ctx context.Context, w Wait) error {
	lock := f.Granted
	if w.Release {
		lock = f.Released
	}
	granted := lock()
	err := f.await(ctx, w, granted)
	if err != nil {
		go func() { <-granted; f.Close() }()
	}
	return err
}

func (f *File) await(ctx context.Context, w Wait, granted chan error) error {
	var late, beat <-chan time.Time
	if w.Most != 0 {
		timer := time.NewTimer(w.Most)
		defer timer.Stop()
		late = timer.C
	}
	if w.Beat > 0 {
		ticker := time.NewTicker(w.Beat)
		defer ticker.Stop()
		beat = ticker.C
	}
	last := f.touched()
	for missed := 0; w.Beat == 0 || missed < w.Missed; missed++ {
		if !w.Release && !f.Current() {
			return ErrReplaced
		}
		select {
		case err := <-granted:
			granted <- err // for the one that closes the file
			if err == nil && !w.Release && !f.Current() {
				return ErrReplaced
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-late:
			return ErrLate
		case <-beat:
		}
		if now := f.touched(); !now.Equal(last) {
			last, missed = now, -1
		}
	}
	f.Drop()
	return ErrReplaced
}

// Granted waits for the lock in the background.
func (f *File) Granted() chan error {
	done := make(chan error, 1)
	go func() { done <- lockFile(f.file, true) }()
	return done
}

// Released waits in the background until no process has the lock.
func (f *File) Released() chan error {
	done := make(chan error, 1)
	go func() { done <- shareFile(f.file) }()
	return done
}
