package log

import (
	"context"
	"sync"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// wideTrees caches directories with many entries. One operation reads the board several times, and
// most of these directories, above all archives, are the same each time.
type wideTrees struct {
	mu    sync.Mutex
	known map[plumbing.OID][]plumbing.TreeEntry
}

// wide is the number of entries from which a directory is cached. maxWide is how many are cached.
const (
	wide    = 500
	maxWide = 16
)

func (w *wideTrees) entries(ctx context.Context, s Store, oid plumbing.OID) ([]plumbing.TreeEntry, error) {
	w.mu.Lock()
	entries, ok := w.known[oid]
	w.mu.Unlock()
	if ok {
		return entries, nil
	}
	entries, err := readEntries(ctx, s, oid)
	if err != nil || len(entries) < wide {
		return entries, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == nil || len(w.known) >= maxWide {
		w.known = map[plumbing.OID][]plumbing.TreeEntry{}
	}
	w.known[oid] = entries
	return entries, nil
}
