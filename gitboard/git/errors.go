package git

import (
	"errors"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/find"
	"github.com/git-liza/git-liza/gitboard/git/locks"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
)

var (
	// ErrNotRepository means that a directory is not in a git repository that git is willing to
	// use.
	ErrNotRepository = errors.New("not a git repository")
	// ErrNotFound means that an object, ref, revision or file does not exist.
	ErrNotFound = errors.New("not found")
	// ErrRefMoved means that a ref was not at the value that an update expected: the
	// compare-and-swap was lost. Read again and retry.
	ErrRefMoved = errors.New("ref has moved")
	// ErrBusy is locks.ErrBusy.
	ErrBusy = locks.ErrBusy
	// ErrClosed means that the repository was used after Close.
	ErrClosed = child.ErrClosed
)

// The errors of the packages below.
type (
	CommandError       = child.CommandError
	UnsupportedError   = child.UnsupportedError
	ForeignError       = find.ForeignError
	DamagedRecordError = records.DamagedError
	BrokenRefError     = plumbing.BrokenRefError
	DamagedIndexError  = plumbing.DamagedIndexError
	FilterError        = plumbing.FilterError
	DamagedError       = plumbing.DamagedError
	AmbiguousError     = plumbing.AmbiguousError
)

// Unfinished reports whether an error is that of a child that was killed or could not run: it is no
// answer.
func Unfinished(err error) bool {
	failed := (*CommandError)(nil)
	return errors.As(err, &failed) && failed.Err != nil
}
