package child

import (
	"errors"
	"fmt"
	"strings"
)

// ErrClosed means that a Batch was used after Close.
var ErrClosed = errors.New("repository is closed")

// CommandError is the failure of a git child.
type CommandError struct {
	Op     string // what git was asked to do, such as "worktree add"
	Exit   int    // exit code; -1 if the child was killed or never ran
	Stderr string // git's message for people; never base a decision on it
	Err    error  // why it was killed or could not run; nil after a plain exit
}

// Error returns one sentence with the last meaningful line of git's message.
func (e *CommandError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("git %s did not finish: %v", e.Op, e.Err)
	}
	said := LastLine(e.Stderr)
	if said == "" {
		return fmt.Sprintf("git %s failed (exit %d)", e.Op, e.Exit)
	}
	return fmt.Sprintf("git %s failed (exit %d): %s", e.Op, e.Exit, said)
}

// Unwrap returns the cause, so that errors.Is finds a cancelled context.
func (e *CommandError) Unwrap() error { return e.Err }

// UnsupportedError is a git version or a repository that this program can't work with. What is a
// sentence with the way out.
type UnsupportedError struct{ What string }

// Error returns the sentence.
func (e *UnsupportedError) Error() string { return e.What }

// ExitCode returns the exit code in err: 0 for nil, and -1 for an error that is not the plain exit
// of a child.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	var failed *CommandError
	if errors.As(err, &failed) && failed.Err == nil {
		return failed.Exit
	}
	return -1
}

// LastLine picks the line of git's stderr to show to a person: the last one that git marks as an
// error, and if there is none, the last that is neither advice nor empty. Advice for those who type
// git commands may follow an error. If the line is the fatal error, the first error before it is
// appended as its cause.
func LastLine(stderr string) string {
	const fatal, failure = "fatal: ", "error: "
	last, cause, marked := "", "", false
	for _, line := range strings.FieldsFunc(stderr, func(c rune) bool { return c == '\n' || c == '\r' }) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "hint:") || strings.HasPrefix(line, "warning:") {
			continue
		}
		said, is := strings.CutPrefix(line, failure)
		if is && cause == "" {
			cause = said
		}
		if is = is || strings.HasPrefix(line, fatal); is || !marked {
			last, marked = line, is
		}
	}
	if said, died := strings.CutPrefix(last, fatal); died && cause != "" {
		return said + " (" + cause + ")"
	}
	return strings.TrimPrefix(strings.TrimPrefix(last, fatal), failure)
}

// The oldest supported git: 2.38 introduced `merge-tree --write-tree`.
const (
	MinimumMajor = 2
	MinimumMinor = 38
)

func missingGit() error {
	return &UnsupportedError{What: fmt.Sprintf("git is not installed or not in PATH; install git %d.%d or newer", MinimumMajor, MinimumMinor)}
}
