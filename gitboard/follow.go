package gitboard

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/share"
)

// Follow returns a channel that gets a value when the board, its pending operations or the merge
// lease may have changed, or a file by which a human stops this clone. It also gets one at the start, and whenever no value was
// sent for the given time. Values that have not been received yet are merged into one. If the system can't watch
// files, only the time counts. When the context ends, Follow stops and closes the channel. All callers
// share one watch.
func (b *Board) Follow(ctx context.Context, every time.Duration) (<-chan struct{}, error) {
	root, err := b.Root(ctx)
	if err != nil {
		return nil, err
	}
	return b.followers.follow(ctx, b.Repo().CommonDir(), root, every), nil
}

// Follow is Board.Follow for the board of the remote. Where the remote can't tell, only the time
// counts.
func (s Sharing) Follow(ctx context.Context, every time.Duration) <-chan struct{} {
	dir, _, _ := s.news(ctx)
	return s.board.remotes.follow(ctx, dir, "", every)
}

// News reports whether the board of the remote is known to be elsewhere than it was last seen.
func (s Sharing) News(ctx context.Context) bool {
	_, news, err := s.news(ctx)
	return news && err == nil
}

func (s Sharing) news(ctx context.Context) (dir string, news bool, err error) {
	by, err := s.board.shared().Sharing(ctx)
	if by == nil {
		return "", false, err
	}
	dir, there := by.Near(plumbing.BoardRef)
	seen, err := s.board.shared().State(ctx)
	return dir, dir != "" && there != seen, err
}

func (a *followers) follow(ctx context.Context, common, root string, every time.Duration) <-chan struct{} {
	f, moved := a.join(common, root)
	changed := make(chan struct{}, 1)
	signal(changed)
	go func() {
		defer close(changed)
		defer a.leave(moved)
		poll := time.NewTicker(every)
		defer poll.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-moved:
			case <-poll.C:
				f.watch()
			}
			signal(changed)
			poll.Reset(every)
		}
	}()
	return changed
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// followers are the callers of Follow, and the watch that they share.
type followers struct {
	mu  sync.Mutex
	f   *follower // nil while nobody follows
	all map[chan struct{}]bool
}

// join returns the watch, which it begins for the first caller, and the channel that gets its values.
func (a *followers) join(common, root string) (*follower, chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.f == nil {
		a.f, a.all = &follower{common: common, root: root}, map[chan struct{}]bool{}
		if w, err := fsnotify.NewWatcher(); err == nil { // without a watcher, only the tickers trigger
			a.f.watcher = w
			a.f.watch()
			go a.f.run(a.signal)
		}
	}
	moved := make(chan struct{}, 1)
	a.all[moved] = true
	return a.f, moved
}

func (a *followers) signal() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for moved := range a.all {
		signal(moved)
	}
}

func (a *followers) leave(moved chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if delete(a.all, moved); len(a.all) == 0 {
		if a.f.watcher != nil {
			_ = a.f.watcher.Close()
		}
		a.f = nil
	}
}

type follower struct {
	common, root string
	watcher      *fsnotify.Watcher // nil if the system can't watch files
}

// run passes on the events that concern followers until the watcher is closed.
func (f *follower) run(signal func()) {
	for {
		select {
		case e, open := <-f.watcher.Events:
			if !open {
				return
			}
			if !f.concerns(e.Name) {
				continue
			}
		case _, open := <-f.watcher.Errors: // the queue has overflowed, so changes may have been missed
			if !open {
				return
			}
		}
		f.watch()
		signal()
	}
}

// places is empty for a remote that can't be watched. It maps the directories to watch to the names that matter in them. Git moves a ref by
// renaming its lock file, and removes directories that packing has emptied.
func (f *follower) places() map[string][]string {
	if f.common == "" {
		return nil
	}
	leases := filepath.Join(f.common, filepath.FromSlash(strings.TrimSuffix(plumbing.LeasePrefix, "/")))
	places := map[string][]string{
		f.common:                                         {"packed-refs", "reftable"},
		filepath.Join(f.common, "reftable"):              {"tables.list"},
		filepath.Join(f.common, "refs", "heads"):         {"liza"},
		filepath.Join(f.common, "refs", "heads", "liza"): {"state"},
		filepath.Join(f.common, "refs"):                  {"liza"},
		filepath.Dir(leases):                             {filepath.Base(leases)},
		leases:                                           {plumbing.MergeHolder},
		filepath.Join(f.common, "liza"):                  {share.ChainFile},
	}
	if f.root != "" {
		places[f.root] = []string{".liza"}
		places[filepath.Join(f.root, ".liza")] = localModes
	}
	return places
}

// watch watches every place that exists, including those created since the last call.
func (f *follower) watch() {
	if f.watcher == nil {
		return
	}
	for dir := range f.places() {
		_ = f.watcher.Add(dir) // the directory may be missing; one that is already watched stays so
	}
}

func (f *follower) concerns(path string) bool {
	return slices.Contains(f.places()[filepath.Dir(path)], filepath.Base(path)) && !strings.HasSuffix(path, ".lock")
}

// Mark returns a text that stays the same until something changes that an overview shows: the
// board, the leases, or the files by which a human stops this clone. It reads a few small files and
// starts no process. If refs are packed, or kept in tables, it goes by the files that hold them.
func (b *Board) Mark(ctx context.Context) (string, error) {
	root, err := b.Root(ctx)
	if err != nil {
		return "", err
	}
	common := b.Repo().CommonDir()
	var m marker
	m.content(filepath.Join(common, filepath.FromSlash(plumbing.BoardRef)))
	m.content(filepath.Join(common, "reftable", "tables.list"))
	m.status(filepath.Join(common, "packed-refs"))
	leases := filepath.Join(common, filepath.FromSlash(strings.TrimSuffix(plumbing.LeasePrefix, "/")))
	entries, _ := os.ReadDir(leases) // the directory may be missing
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

// marker collects what is known about files.
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
