package gitboard

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/git-liza/git-liza/gitboard/git"
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

// Mark is equal as long as nothing changes that an overview is drawn from: the board, leases, and the files by which a
// human stops this clone. It reads a few small files and starts no process. Where refs are packed, or kept in
// tables, their files say that one of them has moved.
func (b *Board) Mark(ctx context.Context) (string, error) {
	root, err := b.Root(ctx)
	if err != nil {
		return "", err
	}
	common := b.Repo().CommonDir()
	var m marker
	m.content(filepath.Join(common, filepath.FromSlash(git.BoardRef)))
	m.content(filepath.Join(common, "reftable", "tables.list"))
	m.status(filepath.Join(common, "packed-refs"))
	leases := filepath.Join(common, filepath.FromSlash(strings.TrimSuffix(git.LeasePrefix, "/")))
	entries, _ := os.ReadDir(leases) // there may be none
	for _, e := range entries {
		m.content(filepath.Join(leases, e.Name()))
	}
	if root != "" {
		for _, name := range localModes {
			m.status(filepath.Join(root, ".liza", name))
		}
	}
	return m.text.String(), nil
}

// marker puts down what is known of files.
type marker struct{ text strings.Builder }

func (m *marker) content(file string) {
	data, err := os.ReadFile(file)
	if err == nil && !strings.HasSuffix(file, ".lock") {
		fmt.Fprintf(&m.text, "%s %q\n", file, data)
	}
}

func (m *marker) status(file string) {
	if info, err := os.Stat(file); err == nil {
		fmt.Fprintf(&m.text, "%s %d %d\n", file, info.Size(), info.ModTime().UnixNano())
	}
}
