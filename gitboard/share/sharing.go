package share

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/queue"
	"github.com/git-liza/git-liza/gitboard/text"
)

const (
	// sharingFile has the name and the address of the remote to which the board was being pushed for
	// the first time. It counts while plumbing.HomeRef is missing and no remote is set.
	sharingFile = "sharing"
	// sharingLock is the file whose lock a running share has, and shareWait how long others wait.
	sharingLock = "sharing.lock"
	shareWait   = 10 * time.Second
)

// begun is a share that has begun and not ended: it is running, or was cut off.
type begun struct{ name, address string }

// begun returns the share that has begun in this clone and not ended, nil for none.
func (s *Store) begun(ctx context.Context) (*begun, error) {
	home, err := s.repo.Ref(ctx, plumbing.HomeRef)
	if err != nil || !home.IsZero() || s.Name() != "" {
		return nil, err
	}
	text, _ := os.ReadFile(s.file(sharingFile)) // without it, the board counts as a copy
	if len(text) == 0 {
		return nil, nil
	}
	name, address, _ := strings.Cut(string(text), "\n")
	return &begun{name, address}, nil
}

// begin records that the board is being pushed to a remote for the first time.
func (s *Store) begin(ctx context.Context, name string) error {
	address, err := s.address(ctx, name)
	if err != nil {
		return err
	}
	return s.write(sharingFile, []byte(name+"\n"+address))
}

// ended forgets what begun returns.
func (s *Store) ended() error { return disk.Remove(s.file(sharingFile)) }

func (s *Store) address(ctx context.Context, name string) (string, error) {
	address, _, err := s.repo.Settings().Get(ctx, "remote."+name+".url")
	return address, err
}

// present returns the present name of the remote of a share that has begun, "" if there is none: it
// may have been renamed, and another remote may have its name. Earlier versions have not recorded
// its address, and then the name decides.
func (s *Store) present(ctx context.Context, b *begun) (string, error) {
	names, err := s.repo.Settings().Remotes(ctx)
	if err != nil {
		return "", err
	}
	if b.address == "" {
		if slices.Contains(names, b.name) {
			return b.name, nil
		}
		return "", nil
	}
	for _, name := range append([]string{b.name}, names...) {
		if address, err := s.address(ctx, name); err != nil || address == b.address {
			return name, err
		}
	}
	return "", nil
}

// cutOff is the refusal of a clone in which a share was cut off.
func (s *Store) cutOff(ctx context.Context, b *begun) error {
	name, err := s.present(ctx, b)
	if err != nil {
		return err
	}
	was, now := text.Line(b.name, 60), text.Line(name, 60)
	line := fmt.Sprintf("git liza share %s was cut off: if %s has the board by now, others write to it there", was, was)
	hint := "git liza share " + now
	names, err := s.repo.Settings().Remotes(ctx)
	if err != nil {
		return err
	}
	if name != b.name && slices.Contains(names, b.name) {
		line = fmt.Sprintf("git liza share %s was cut off, and %s has another address now: if the repository at the first one has the board by now, others write to it there", was, was)
	}
	switch {
	case name != "":
	case slices.Contains(names, b.name):
		hint = fmt.Sprintf("git remote add NAME URL, with the address that %s had; then git liza share NAME", was)
	default:
		hint = fmt.Sprintf("git remote add %s URL, with the address that it had; then git liza share %s", was, was)
	}
	return board.Refuse(board.CodeElsewhere, line, hint)
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
