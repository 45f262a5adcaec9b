package share

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/queue"
	"github.com/git-liza/git-liza/gitboard/text"
)

const (
	// sharingFile has the name of the remote to which the board was being pushed for the first time. It
	// counts while plumbing.HomeRef is missing and no remote is set.
	sharingFile = "sharing"
	// sharingLock is the file whose lock a running share has, and shareWait how long others wait.
	sharingLock = "sharing.lock"
	shareWait   = 10 * time.Second
)

// begun returns the name of the remote to which a share has begun in this clone and not ended, "" for
// none: it is running, or was cut off.
func (s *Store) begun(ctx context.Context) (string, error) {
	home, err := s.repo.Ref(ctx, plumbing.HomeRef)
	if err != nil || !home.IsZero() || s.Name() != "" {
		return "", err
	}
	name, _ := os.ReadFile(s.file(sharingFile)) // without it, the board counts as a copy
	return string(name), nil
}

// begin records that the board is being pushed to a remote for the first time.
func (s *Store) begin(name string) error { return s.write(sharingFile, []byte(name)) }

// ended forgets what begun returns.
func (s *Store) ended() error { return disk.Remove(s.file(sharingFile)) }

// cutOff is the refusal of a clone in which a share to a remote was cut off.
func (s *Store) cutOff(ctx context.Context, name string) error {
	names, err := s.repo.Settings().Remotes(ctx)
	if err != nil {
		return err
	}
	name, known := text.Line(name, 60), slices.Contains(names, name)
	hint := "git liza share " + name
	if !known {
		hint = fmt.Sprintf("git remote add %s URL, with the address that it had; then %s", name, hint)
	}
	return board.Refuse(board.CodeElsewhere, fmt.Sprintf("git liza share %s was cut off: if %s has the board by now, others write to it there", name, name), hint)
}

// awaitShare waits for the end of a share that runs in this clone: for its lock to share itself, for
// the lock's release otherwise. It refuses if that takes too long.
func (s *Store) awaitShare(ctx context.Context, toShare bool) (release func(), err error) {
	file, err := s.repo.OpenQueue(s.file(sharingLock))
	if err != nil {
		return func() {}, nil // the home of the board is still moved by one share only
	}
	err = file.Await(ctx, queue.Wait{Release: !toShare, Most: s.shareWait})
	switch {
	case errors.Is(err, queue.ErrLate):
		return nil, sharingNow()
	case ctx.Err() != nil:
		if err == nil {
			file.Close()
		}
		return nil, ctx.Err()
	case err != nil:
		return func() {}, nil
	}
	return func() { file.Close() }, nil
}

// sharingNow is the refusal while a share is running in this clone.
func sharingNow() error {
	return board.Refuse(board.CodeBusy, "git liza share is running in this clone, and writes wait until it ends", "try again after a pause")
}
