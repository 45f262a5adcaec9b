package oplog

import (
	"context"
	"sync"

	"github.com/git-liza/git-liza/gitboard/git"
)

// wideTrees remembers directories with many entries: one operation reads the board several times, and most of
// them, above all an archive, are the same each time.
type wideTrees struct {
	mu    sync.Mutex
	known map[git.OID][]git.TreeEntry
}

// wide is how many entries make it worth while; mostWide is how many directories are remembered.
const (
	wide     = 500
	mostWide = 16
)

func (w *wideTrees) entries(ctx context.Context, s Store, oid git.OID) ([]git.TreeEntry, error) {
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
	if w.known == nil || len(w.known) >= mostWide {
		w.known = map[git.OID][]git.TreeEntry{}
	}
	w.known[oid] = entries
	return entries, nil
}
