package plumbing

import (
	"fmt"
	"strings"
)

// BrokenRefError is a ref that does not lead to an object: a crash emptied its file, or its object
// is gone.
type BrokenRefError struct {
	Ref  string
	Text string // the content of its file
}

// Error returns one sentence.
func (e *BrokenRefError) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("the ref %s is broken: its file is empty", e.Ref)
	}
	return fmt.Sprintf("the ref %s is broken: it leads to %.50q, which is not here", e.Ref, e.Text)
}

// DamagedIndexError is an index of a worktree that git can't read.
type DamagedIndexError struct {
	Worktree string
	Err      error // git's message
}

// Error returns one sentence.
func (e *DamagedIndexError) Error() string {
	return fmt.Sprintf("the index of the worktree %s is damaged", e.Worktree)
}

// Unwrap returns git's message.
func (e *DamagedIndexError) Unwrap() error { return e.Err }

// FilterError is a worktree whose files git can't read, because a filter fails that its settings
// require.
type FilterError struct{ Err error }

// Error returns git's message, which names the file and the filter.
func (e *FilterError) Error() string { return e.Err.Error() }

// Unwrap returns git's message.
func (e *FilterError) Unwrap() error { return e.Err }

// DamagedError is a commit whose history can't be read, because some of its objects are missing or
// do not match their ids.
type DamagedError struct {
	Commit OID
	Err    error  // git's message; nil if there was none
	Object OID    // one that can't be read, "" if unknown
	Path   string // of that object in the commit's tree, "" if unknown
}

// Error returns one sentence.
func (e *DamagedError) Error() string {
	text := fmt.Sprintf("objects of the history of %s are missing or damaged", e.Commit.Short())
	switch {
	case e.Path != "":
		return text + fmt.Sprintf(": %s (%s)", e.Path, e.Object)
	case e.Object != "":
		return text + ": " + string(e.Object)
	case e.Err != nil:
		return text + fmt.Sprintf(" (%v)", e.Err)
	}
	return text
}

// Unwrap returns git's message.
func (e *DamagedError) Unwrap() error { return e.Err }

// AmbiguousError is a revision whose name has several meanings.
type AmbiguousError struct {
	Rev   string
	Names []string // what it may mean: full names of refs, or ids of commits
}

// Error returns one sentence.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q has several meanings here: %s", e.Rev, strings.Join(e.Names, ", "))
}
