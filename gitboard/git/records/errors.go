package records

import "fmt"

// DamagedError is a record of a worktree that git can't read. Git lists no worktree while it
// is there, and adds none.
type DamagedError struct {
	Path string
	Err  error // git's message
}

// Error returns one sentence.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("git can't read its record of a worktree, %s, and uses no worktree while it is so", e.Path)
}

// Unwrap returns git's message.
func (e *DamagedError) Unwrap() error { return e.Err }
