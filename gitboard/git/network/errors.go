package network

import (
	"errors"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
)

// Error is a remote that could not be reached, or that refused.
type Error struct {
	Remote string
	Said   string // one line, by git or the remote
	Err    error
}

// Error returns one sentence.
func (e *Error) Error() string { return fmt.Sprintf("the remote %s: %s", e.Remote, e.Said) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrRejected means that the remote moved none of the refs of a push, because one of them could
// not be moved, unless a *PartError reports otherwise.
var ErrRejected = errors.New("the push was rejected")

// PartError, wrapped with ErrRejected, means that the remote moved other refs of a push in
// spite of --atomic, which does not cover refs that it hides (receive.hideRefs).
type PartError struct{ Left []string } // the refs that it has not moved

// Error names the refs.
func (e *PartError) Error() string {
	return "the remote has moved other refs, and not " + strings.Join(e.Left, ", ")
}

// ErrLockedThere, wrapped with ErrRejected, means that a lock at the remote was in the way: one
// held by another push, or left there by a killed git.
var ErrLockedThere = errors.New("the remote's refs are locked")

// ErrDeclinedThere, wrapped with ErrRejected, means that a hook or a setting at the remote declined
// the push. Retrying the same push is useless.
var ErrDeclinedThere = errors.New("the remote has declined")

// ErrUnstoredThere, wrapped with ErrRejected, means that the remote could not write what was
// pushed: its disk is full, say. It may accept the same push later.
var ErrUnstoredThere = errors.New("the remote could not store it")

// ErrHiddenThere, wrapped with ErrRejected, means that the remote accepts no push to one of the
// refs (receive.hideRefs, which a clone with a board sets for its own refs).
var ErrHiddenThere = errors.New("the remote takes no pushes to its board")

// ErrNoRemote means that git has no address for a remote: it was renamed or removed.
var ErrNoRemote = errors.New("there is no such remote")

// ErrNotAtomic means that the remote does not support atomic pushes. Nothing was sent to it.
var ErrNotAtomic = errors.New("the remote does not move several refs at once")

// ErrSilent means that the remote was given up on after Patience without output. Do not retry at
// once: that would only be another wait.
var ErrSilent = errors.New("nothing was heard")

// ErrUnsent means that a push failed before anything was sent to the remote.
var ErrUnsent = errors.New("nothing was sent")

// ErrNotOffered means that the remote does not have the ref, or takes no options. Nothing was sent.
var ErrNotOffered = errors.New("the remote does not offer it")

// Rejected marks the error of a push that was refused, as opposed to one with an unknown outcome.
func Rejected(out []byte, err error) error {
	failed := (*Error)(nil)
	if !errors.As(err, &failed) || child.ExitCode(failed.Err) <= 0 {
		return err
	}
	// The name of an option is never translated. Git dies before it pushes.
	if strings.Contains(failed.Said, "--atomic") {
		failed.Err = fmt.Errorf("%w: %w", ErrNotAtomic, failed.Err)
		return failed
	}
	if part := partly(out); part != nil {
		failed.Err = fmt.Errorf("%w: %w", part, failed.Err)
	}
	for _, line := range child.Lines(out) {
		if rest, is := strings.CutPrefix(line, "!\t"); is {
			_, why, _ := strings.Cut(rest, "\t")
			if !strings.HasPrefix(failed.Said, "remote: ") {
				failed.Said = why
			}
			failed.Err = fmt.Errorf("%w (%w)", ErrRejected, failed.Err)
			// Without ".lock" another ref's name is in the way.
			if strings.Contains(failed.Said, "cannot lock ref") && strings.Contains(failed.Said, ".lock'") {
				failed.Err = fmt.Errorf("%w: %w", ErrLockedThere, failed.Err)
			}
			// Words of the protocol, which are never translated.
			if strings.Contains(why, "unpacker error") {
				failed.Err = fmt.Errorf("%w: %w", ErrUnstoredThere, failed.Err)
			}
			if strings.Contains(failed.Said, "hidden ref") {
				failed.Err = fmt.Errorf("%w: %w: %w", ErrHiddenThere, ErrDeclinedThere, failed.Err)
			}
			if strings.Contains(why, "hook declined") {
				failed.Err = fmt.Errorf("%w: %w", ErrDeclinedThere, failed.Err)
			}
			return failed
		}
	}
	return failed
}

// partly returns an error if a push moved some refs and not others, going by its output: lines
// of a flag, from:to and a summary (git-push, --porcelain).
func partly(out []byte) *PartError {
	moved, part := false, &PartError{}
	for _, line := range child.Lines(out) {
		fields := strings.Split(line, "\t")
		if len(fields) < 3 {
			continue
		}
		switch fields[0] {
		case "!":
			_, to, _ := strings.Cut(fields[1], ":")
			part.Left = append(part.Left, to)
		case " ", "+", "-", "*":
			moved = true
		}
	}
	if !moved || len(part.Left) == 0 {
		return nil
	}
	return part
}
