package gitio

import (
	"errors"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
)

var (
	// ErrNotRepository says that a directory belongs to no git repository
	// that git is willing to use.
	ErrNotRepository = errors.New("not a git repository")
	// ErrNotFound says that an object, ref, revision or file does not exist.
	ErrNotFound = errors.New("not found")
	// ErrRefMoved says that a ref was not at the value that an update expected:
	// the compare-and-swap was lost. Read again and decide again.
	ErrRefMoved = errors.New("ref has moved")
	// ErrBusy says that another git process holds a lock that we waited for in
	// vain. Nothing was changed; trying again is safe.
	ErrBusy = errors.New("locked by another git process")
	// ErrClosed says that the repository was used after Close.
	ErrClosed = errors.New("repository is closed")
)

// CommandError is a git child that did not succeed.
type CommandError struct {
	Op     string // what was asked of git, as in "worktree add"
	Exit   int    // exit code; -1 when the child was killed or never ran
	Stderr string // what git said, for people; never decide by it
	Err    error  // why it was killed or could not run; nil after a plain exit
}

// Error returns one sentence, with the last meaningful line of what git said.
func (e *CommandError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("git %s did not finish: %v", e.Op, e.Err)
	}
	said := lastLine(e.Stderr)
	if said == "" {
		return fmt.Sprintf("git %s failed (exit %d)", e.Op, e.Exit)
	}
	return fmt.Sprintf("git %s failed (exit %d): %s", e.Op, e.Exit, said)
}

// Unwrap returns the cause, so that errors.Is finds a cancelled context.
func (e *CommandError) Unwrap() error { return e.Err }

// UnsupportedError is a git or a repository that this program cannot work
// with. What is one sentence that names the way out.
type UnsupportedError struct{ What string }

// Error returns the sentence.
func (e *UnsupportedError) Error() string { return e.What }

// ForeignError is a repository that git refuses to use because it belongs to
// another user (git-config, safe.directory).
type ForeignError struct {
	Dir string // what safe.directory would have to name
}

// Error returns one sentence.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("git does not use the repository at %s, because it belongs to another user", e.Dir)
}

// BrokenRefError is a ref that leads to no object: a crash has emptied its
// file, or its object has gone.
type BrokenRefError struct {
	Ref  string
	Text string // what its file holds
}

// Error returns one sentence.
func (e *BrokenRefError) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("the ref %s is broken: its file is empty", e.Ref)
	}
	return fmt.Sprintf("the ref %s is broken: it leads to %.50q, which is not here", e.Ref, e.Text)
}

// DamagedError is a commit whose history can't be read, because objects of it are missing or do not
// hold what their ids say.
type DamagedError struct {
	Commit git.OID
	Err    error // what git said; nil when it said nothing
}

// Error returns one sentence.
func (e *DamagedError) Error() string {
	text := fmt.Sprintf("objects of the history of %s are missing or damaged", e.Commit.Short())
	if e.Err != nil {
		text += fmt.Sprintf(" (%v)", e.Err)
	}
	return text
}

// Unwrap returns what git said.
func (e *DamagedError) Unwrap() error { return e.Err }

// exitCode returns the exit code that err carries, 0 for no error and -1 for
// an error that is not a plain exit of a child.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	var failed *CommandError
	if errors.As(err, &failed) && failed.Err == nil {
		return failed.Exit
	}
	return -1
}

// lastLine picks the line of git's stderr that a person should see: the last
// one that is neither advice nor empty. When that is what git died of, the
// first error before it follows, being the cause.
func lastLine(stderr string) string {
	const fatal, failure = "fatal: ", "error: "
	last, cause := "", ""
	for _, line := range strings.FieldsFunc(stderr, func(c rune) bool { return c == '\n' || c == '\r' }) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "hint:") || strings.HasPrefix(line, "warning:") {
			continue
		}
		last = line
		if said, is := strings.CutPrefix(line, failure); is && cause == "" {
			cause = said
		}
	}
	if said, died := strings.CutPrefix(last, fatal); died && cause != "" {
		return said + " (" + cause + ")"
	}
	return strings.TrimPrefix(strings.TrimPrefix(last, fatal), failure)
}
