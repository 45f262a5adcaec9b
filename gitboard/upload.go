package gitboard

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Upload uploads to the remote of a shared board the git-lfs files that commit to needs and its
// ancestor from does not. Git itself pushes only pointers, and other clones could not check the
// commit out. It does nothing on a board that is not shared. A refusal names one of the files.
func (s Sharing) Upload(ctx context.Context, from, to plumbing.OID) error {
	if s.board.Remote() == "" {
		return nil
	}
	changed, err := s.board.Repo().History().ChangedFiles(ctx, from, to)
	if err != nil {
		return err
	}
	files, err := s.board.Repo().History().LargeFiles(ctx, from, to, changed)
	if err != nil || len(files) == 0 {
		return err
	}
	by, err := s.board.shared().Sharing(ctx)
	if err != nil {
		return err
	}
	err = by.Upload(ctx, files)
	if lost := slices.IndexFunc(files, func(f git.LargeFile) bool { return !s.board.Repo().History().HasLargeFile(f) }); lost > 0 {
		files[0], files[lost] = files[lost], files[0] // most likely the reason
	}
	what := fmt.Sprintf("%s (object %.10s…)", text.Line(files[0].Path, 120), files[0].Object)
	if more := len(files) - 1; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	if errors.Is(err, git.ErrNoLFS) {
		return board.Refuse(board.CodeMissing, "git-lfs keeps "+what+", and is not installed here, so nobody else would get it", "install git-lfs, then try again")
	}
	if failed := (*git.NetworkError)(nil); errors.As(err, &failed) {
		said := *failed
		said.Said = "git-lfs did not upload " + what + ": " + failed.Said
		return &said
	}
	return err
}
