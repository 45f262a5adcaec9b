package gitboard

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/remote"
)

// writeQueue is the right of way among processes of one clone that append at the same time: an advisory lock on the file
// <common git dir>/liza/turn. It keeps them from deciding and writing in vain, and lets each come in its turn; what
// keeps operations apart is the compare-and-swap alone. So whoever can't have it goes on without: where files can't
// be locked or written, over memory, and when the one who has it does not get on.
type writeQueue struct {
	path     string        // "" where there is none to be had, or no more
	held     *os.File      // nil while it isn't held
	patience time.Duration // how long the queue may stand still
}

const (
	// patience is how long a queue may stand still until those who wait in it go on without.
	patience = 500 * time.Millisecond
	// sharedPatience is the same where those who have the turn talk to a remote.
	sharedPatience = 10 * time.Second
	// mostPatience is how many times as long anybody waits in a queue that moves.
	mostPatience = 20
)

// writeQueue is this clone's queue, not waited in yet.
func (b *Board) writeQueue() *writeQueue {
	if b.Repo() == nil {
		return &writeQueue{}
	}
	t := &writeQueue{path: filepath.Join(b.Dir(), remote.TurnFile), patience: patience}
	if b.Remote() != "" {
		t.patience = sharedPatience
	}
	return t
}

// queue waits for the turn and keeps it if somebody has it now; else it leaves it to others, who may be quicker to
// decide. waited: what was read before is most likely out of date.
func (t *writeQueue) queue(ctx context.Context) (waited bool) { return t.get(ctx, false) }

// take waits for the turn if somebody else has it, and keeps it until end. waited as for queue. When it returns the
// turn may still not be held: nobody must rely on it.
func (t *writeQueue) take(ctx context.Context) (waited bool) { return t.get(ctx, true) }

func (t *writeQueue) get(ctx context.Context, evenIfFree bool) (waited bool) {
	t.touch() // whoever has it already
	if t.path == "" || t.held != nil {
		return false
	}
	file, err := gitio.OpenQueue(t.path)
	if err != nil {
		t.path = ""
		return false
	}
	err = gitio.TryQueue(file)
	switch {
	case err == nil && evenIfFree:
		t.hold(file)
		return false
	case errors.Is(err, gitio.ErrHeld):
		t.wait(ctx, file)
		return true
	}
	file.Close()
	return false
}

// wait waits for as long as the queue moves.
func (t *writeQueue) wait(ctx context.Context, file *os.File) {
	granted := gitio.AwaitQueue(file)
	ticker := time.NewTicker(cmp.Or(t.patience, patience))
	defer ticker.Stop()
	last, stands := handedOn(file), false
	for n := 0; n < mostPatience && !stands && ctx.Err() == nil; n++ {
		select {
		case err := <-granted:
			if err != nil {
				file.Close()
				t.path = ""
				return
			}
			t.hold(file)
			return
		case <-ctx.Done():
		case <-ticker.C:
			now := handedOn(file)
			stands, last = now.Equal(last), now
		}
	}
	if stands {
		dropQueueFile(t.path, file)
	}
	t.path = ""
	gitio.LeaveQueue(file, granted)
}

// hold is having got it. Writing to the file gives it a new time, by which others see that the queue moves.
func (t *writeQueue) hold(file *os.File) {
	t.held = file
	_, _ = file.WriteAt([]byte{'\n'}, 0) // else they believe too early that it stands
}

// touch shows those who wait that whoever has the turn does get on, though it takes long.
func (t *writeQueue) touch() {
	if t.held != nil {
		_, _ = t.held.WriteAt([]byte{'\n'}, 0)
	}
}

// end lets the next one have the turn. It need not be held, and may be taken again.
func (t *writeQueue) end() {
	if t.held != nil {
		t.held.Close()
		t.held = nil
	}
}

// handedOn is when somebody got the turn last.
func handedOn(file *os.File) time.Time {
	info, err := file.Stat()
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// dropQueueFile takes the file away from under one who has the turn and does not get on, such as a process that was
// stopped: those who come now begin a queue of their own.
func dropQueueFile(path string, file *os.File) {
	is, err := file.Stat()
	if err != nil {
		return
	}
	if there, err := os.Stat(path); err == nil && os.SameFile(is, there) {
		os.Remove(path)
	}
}
