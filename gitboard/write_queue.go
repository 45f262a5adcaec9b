package gitboard

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/queue"
	"github.com/git-liza/git-liza/gitboard/share"
)

// writeQueue makes processes of one clone that append at the same time take turns, with an advisory
// lock on the file <common git dir>/liza/turn. It saves them from deciding and writing in vain, and
// is fair; correctness rests on the compare-and-swap alone. So a process that can't get its turn
// continues without it: if files can't be locked or written, if the board is in memory, or if one
// process after the other is stuck. If it loses the race, it queues again.
type writeQueue struct {
	repo     *git.Repo
	path     string        // "" if there can be no queue
	held     *queue.File   // nil while the turn is not held
	patience time.Duration // how long the queue may be stuck
	without  bool          // the turn has not come, and the next attempt is made without it
}

const (
	// patience is how long a queue may be stuck before waiting processes continue without it.
	patience = 500 * time.Millisecond
	// sharedPatience is the same if the process that has the turn talks to a remote.
	sharedPatience = 10 * time.Second
	// maxPatience limits the wait in a moving queue, as a multiple of the patience.
	maxPatience = 20
	// maxQueues is in how many queues one after the other, each because the one before it was
	// stuck, a process waits before it tries without the turn.
	maxQueues = 3
)

// writeQueue returns this clone's queue, in which this process does not wait yet.
func (b *Board) writeQueue() *writeQueue {
	if b.Repo() == nil {
		return &writeQueue{}
	}
	t := &writeQueue{repo: b.Repo(), path: filepath.Join(b.Dir(), share.TurnFile), patience: patience}
	if b.Remote() != "" {
		t.patience = sharedPatience
	}
	return t
}

// queue waits for the turn and keeps it if another process has it now. Otherwise it leaves the turn
// to others, which may be quicker to decide. waited means that the board read before is most likely
// stale.
func (t *writeQueue) queue(ctx context.Context) (waited bool) { return t.get(ctx, false) }

// take waits for the turn if another process has it, and keeps it until end. waited is as for
// queue. The turn may still not be held when take returns, so no caller may depend on it.
func (t *writeQueue) take(ctx context.Context) (waited bool) { return t.get(ctx, true) }

func (t *writeQueue) get(ctx context.Context, evenIfFree bool) (waited bool) {
	if t.without {
		t.without = false
		return false
	}
	defer func() { t.without = waited && t.held == nil }()
	if t.held != nil && !t.held.Current() {
		t.end() // others took this process for stuck, and there is a new queue
	}
	t.touch()
	for queues, next := 0, true; next && queues < maxQueues && t.path != "" && t.held == nil; queues++ {
		file, err := t.repo.OpenQueue(t.path)
		if err != nil {
			t.path = ""
			break
		}
		err = file.Try()
		switch {
		case errors.Is(err, queue.ErrHeld):
			waited, next = true, t.wait(ctx, file)
		case err == nil && (evenIfFree || waited):
			t.hold(file)
		default:
			file.Close()
			return waited
		}
	}
	return waited
}

// wait waits for the turn for as long as the queue moves. If it does not, next is true: there is
// to be a new queue.
func (t *writeQueue) wait(ctx context.Context, file *queue.File) (next bool) {
	every := cmp.Or(t.patience, patience)
	err := file.Await(ctx, queue.Wait{Most: maxPatience * every, Beat: every, Missed: 1})
	switch {
	case err == nil:
		t.hold(file)
	case errors.Is(err, queue.ErrReplaced):
		return true
	case !errors.Is(err, queue.ErrLate) && ctx.Err() == nil:
		t.path = ""
	}
	return false
}

// hold records that this process has the turn, and shows others that the queue moves.
func (t *writeQueue) hold(file *queue.File) {
	t.held = file
	file.Touch() // otherwise they would think too early that it is stuck
}

// touch shows waiting processes that the holder of the turn makes progress, even if it takes long.
func (t *writeQueue) touch() {
	if t.held != nil {
		t.held.Touch()
	}
}

// end passes the turn on. It need not be held, and may be taken again.
func (t *writeQueue) end() {
	if t.held != nil {
		t.held.Close()
		t.held = nil
	}
}
