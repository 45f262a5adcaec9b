package remote

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/git-liza/git-liza/gitboard/gitio"
)

const (
	fetchLock = "fetch"
	// aBeat is how often a process that pushes or fetches shows that it is alive, and mostMissed how
	// many beats may be missing before others continue without it.
	aBeat      = time.Second
	mostMissed = 10
)

// lock keeps other processes of this clone from fetching at the same time, which would make git
// fail for one of them. It serves order, not safety. A process that shows no progress, as one that
// was stopped, is left behind with its file, and the others queue at a new one.
func (s *Store) lock(ctx context.Context) (release func()) {
	most := time.NewTimer(tries * s.remote.Load().Patience())
	defer most.Stop()
	path := s.file(fetchLock)
	for {
		file, err := s.repo.OpenQueue(path)
		if err != nil {
			break
		}
		granted, err := s.awaitAlive(ctx, path, file, most.C)
		if err != nil {
			break
		}
		if granted {
			stop := beating(file, s.beat)
			return func() { stop(); gitio.CloseQueue(file) }
		}
	}
	return func() {}
}

// awaitAlive waits for the lock of a file for as long as its holder is alive, and otherwise removes
// it from its path. granted is false if there is to be another file at the path. An error ends the
// wait: files can't be locked, or it was long enough.
func (s *Store) awaitAlive(ctx context.Context, path string, file *os.File, most <-chan time.Time) (granted bool, err error) {
	awaited := gitio.AwaitQueue(file)
	ticker := time.NewTicker(s.beat)
	defer ticker.Stop()
	moved := stamp(path)
	for missed := 0; missed < mostMissed && gitio.IsQueue(path, file); missed++ {
		select {
		case err := <-awaited:
			if granted = err == nil && gitio.IsQueue(path, file); !granted {
				gitio.CloseQueue(file)
			}
			return granted, err
		case <-ctx.Done():
			gitio.LeaveQueue(file, awaited)
			return false, context.Canceled
		case <-most:
			gitio.LeaveQueue(file, awaited)
			return false, context.DeadlineExceeded
		case <-ticker.C:
		}
		if now := stamp(path); now != moved {
			moved, missed = now, 0
		}
	}
	gitio.DropQueue(path, file)
	gitio.LeaveQueue(file, awaited)
	return false, nil
}

// beating touches a file at intervals until stop is called, so that others see progress.
func beating(file *os.File, every time.Duration) (stop func()) {
	touch := func() { _, _ = file.WriteAt([]byte{'\n'}, 0) }
	touch()
	ticker, ended, gone := time.NewTicker(every), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case <-ticker.C:
				touch()
			case <-ended:
				return
			}
		}
	}()
	return func() { ticker.Stop(); close(ended); <-gone }
}

// stamp identifies the present content of a file by its time and size.
func stamp(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.ModTime().UnixNano(), info.Size())
}

// take waits for the lock of one of this clone's own files, by gitio.AwaitQueue or AwaitRelease. It
// serves order, not safety: a caller that has waited too long continues without it.
func (s *Store) take(ctx context.Context, name string, await func(*os.File) <-chan error, most time.Duration) (release func()) {
	file, err := s.repo.OpenQueue(s.file(name))
	if err != nil {
		return func() {}
	}
	granted := await(file)
	select {
	case <-granted:
		return func() { gitio.CloseQueue(file) }
	case <-ctx.Done():
	case <-time.After(most):
	}
	gitio.LeaveQueue(file, granted)
	return func() {}
}
