package gitboard

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Follow tells when the board may have changed, or a file by which a human stops this clone: the channel
// gets a value then, at once at the beginning, and whenever a time has passed without one. Values that
// nobody has taken yet count as one. Where the system can't watch files only the time counts. It ends, and
// closes the channel, with the context.
func (b *Board) Follow(ctx context.Context, every time.Duration) (<-chan struct{}, error) {
	root, err := b.Root(ctx)
	if err != nil {
		return nil, err
	}
	f := &follower{common: b.Repo().CommonDir(), root: root, changed: make(chan struct{}, 1)}
	if w, err := fsnotify.NewWatcher(); err == nil { // without one, time alone tells
		f.watcher, f.events, f.errors = w, w.Events, w.Errors
		f.watch()
	}
	f.tell()
	go f.run(ctx, every)
	return f.changed, nil
}

type follower struct {
	common, root string
	watcher      *fsnotify.Watcher
	events       <-chan fsnotify.Event // nil without a watcher
	errors       <-chan error
	changed      chan struct{}
}

func (f *follower) run(ctx context.Context, every time.Duration) {
	defer close(f.changed)
	if f.watcher != nil {
		defer f.watcher.Close()
	}
	poll := time.NewTicker(every)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-f.events:
			if !f.concerns(e.Name) {
				continue
			}
		case <-f.errors: // the queue has overflowed: what has been missed is unknown
		case <-poll.C:
		}
		if f.watcher != nil {
			f.watch()
		}
		f.tell()
		poll.Reset(every)
	}
}

func (f *follower) tell() {
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// places are the directories in which something of ours appears, and what counts there. Git moves a ref by
// renaming its lock, and takes directories away that packing has emptied.
func (f *follower) places() map[string][]string {
	places := map[string][]string{
		f.common:                                         {"packed-refs", "reftable"},
		filepath.Join(f.common, "reftable"):              {"tables.list"},
		filepath.Join(f.common, "refs", "heads"):         {"liza"},
		filepath.Join(f.common, "refs", "heads", "liza"): {"state"},
	}
	if f.root != "" {
		places[f.root] = []string{".liza"}
		places[filepath.Join(f.root, ".liza")] = localModes
	}
	return places
}

// watch looks at every place that is there. One that came after the last look is looked at from now on.
func (f *follower) watch() {
	for dir := range f.places() {
		_ = f.watcher.Add(dir) // it may not be there, and what is watched already stays so
	}
}

func (f *follower) concerns(path string) bool {
	return slices.Contains(f.places()[filepath.Dir(path)], filepath.Base(path)) && !strings.HasSuffix(path, ".lock")
}
