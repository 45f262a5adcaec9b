package find

import "fmt"

// ForeignError is a repository that git refuses to use because another user owns it (git-config,
// safe.directory).
type ForeignError struct {
	Dir string // the value that safe.directory would need
}

// Error returns one sentence.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("git does not use the repository at %s, because it belongs to another user", e.Dir)
}
