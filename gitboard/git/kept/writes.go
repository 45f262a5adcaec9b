package kept

import (
	"os"
	"slices"
	"sync"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Writes are the writes of this process after which no refs moved yet.
type Writes struct {
	mu  sync.Mutex
	all []Write
}

// Write is one write's objects, and the file that keeps them.
type Write struct {
	file    string
	Objects []plumbing.Object
}

// Add adds a write that Store has kept in a file; "" adds none.
func (w *Writes) Add(file string, objects []plumbing.Object) {
	if file == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, Write{file, objects})
}

// Here returns the writes.
func (w *Writes) Here() []Write {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.all)
}

// Take returns the writes and forgets them.
func (w *Writes) Take() (all []Write) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, w.all = w.all, nil
	return all
}

// Mark marks the write's file if it is the one of a commit, or of other objects alone, that a ref has
// moved to.
func (w Write) Mark(updates []plumbing.RefUpdate) {
	commits := slices.ContainsFunc(w.Objects, IsCommit)
	movedTo := func(o plumbing.Object) bool {
		// An attempt that failed may have written the same lease as this one, and another commit.
		return IsCommit(o) == commits && slices.ContainsFunc(updates, func(u plumbing.RefUpdate) bool { return u.New == o.OID })
	}
	if slices.ContainsFunc(w.Objects, movedTo) {
		_ = os.Chmod(w.file, MovedMode) // best effort: the objects are kept either way
	}
}
