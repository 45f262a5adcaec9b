package log

import (
	"context"
	"fmt"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Reader reads boards and operations from a store.
type Reader struct {
	store   Store
	cache   *briefCache
	wide    wideTrees
	decoded decoded
}

// NewReader returns the reader of a store. cacheFile is where briefs of tasks are remembered, "" for
// nowhere; losing it only costs time.
func NewReader(store Store, cacheFile string) *Reader {
	return &Reader{store: store, cache: &briefCache{file: cacheFile}}
}

// Store returns the store that it reads.
func (l *Reader) Store() Store { return l.store }

// Tip reads the current board, which is empty before the first operation.
func (l *Reader) Tip(ctx context.Context) (*Snapshot, error) {
	oid, err := l.store.Ref(ctx, plumbing.BoardRef)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", plumbing.BoardRef, err)
	}
	return l.At(ctx, oid)
}
