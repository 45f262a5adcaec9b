package share

import (
	"context"
	"errors"
	"time"

	"github.com/git-liza/git-liza/gitboard/queue"
)

const (
	fetchLock = "fetch"
	// aBeat is how often a process that pushes or fetches shows that it is alive, and maxMissed how
	// many beats may be missing before others continue without it.
	aBeat     = time.Second
	maxMissed = 10
)

// lock keeps other processes of this clone from fetching at the same time, which would make git
// fail for one of them. It serves order, not safety. A process that shows no progress, as one that
// was stopped, is left behind with its file, and the others queue at a new one.
func (s *Store) lock(ctx context.Context) (release func()) {
	most := max(tries*s.remote.Load().Patience(), 1)
	for range tries {
		file, err := s.repo.OpenQueue(s.file(fetchLock))
		if err != nil {
			break
		}
		err = file.Await(ctx, queue.Wait{Most: most, Beat: s.beat, Missed: maxMissed})
		if err == nil {
			stop := file.Beat(s.beat)
			return func() { stop(); file.Close() }
		}
		if !errors.Is(err, queue.ErrReplaced) {
			break
		}
	}
	return func() {}
}

// take waits for the lock of one of this clone's own files. It serves order, not safety: a caller
// that has waited too long continues without it.
func (s *Store) take(ctx context.Context, name string, w queue.Wait) (release func()) {
	file, err := s.repo.OpenQueue(s.file(name))
	if err != nil || file.Await(ctx, w) != nil {
		return func() {}
	}
	return func() { file.Close() }
}
