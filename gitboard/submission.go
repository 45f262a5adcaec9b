package gitboard

import (
	"context"
	"errors"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// Submission gathers what of a task's submission only the repository knows: its commits and files, and what
// changed in its spec since the task was finalized. The task has a review commit.
func (b *Board) Submission(ctx context.Context, v *View, t *board.Task) (*board.Submission, error) {
	base, commit := gitio.OID(t.ReviewBase), gitio.OID(t.ReviewCommit)
	files, err := b.repo.ChangedFiles(ctx, base, commit)
	if err != nil {
		return nil, err
	}
	commits, err := b.repo.Log(ctx, base, commit)
	if err != nil {
		return nil, err
	}
	s := board.SubmissionOf(v.State.Config(), t, files)
	for _, c := range commits {
		subject, _, _ := strings.Cut(c.Message, "\n")
		s.Commits = append(s.Commits, c.OID.Short()+" "+board.Line(subject, 100))
	}
	now, err := b.SpecOID(ctx, v, t.SpecRef)
	if err != nil || t.SpecOID == "" || now == t.SpecOID {
		return s, err
	}
	s.SpecChanged = true
	if now != "" {
		s.SpecDiff, err = b.diffSpecs(ctx, gitio.OID(t.SpecOID), gitio.OID(now))
	}
	return s, err
}

// diffSpecs compares two versions of a spec; "" when this clone lacks the old one.
func (b *Board) diffSpecs(ctx context.Context, was, now gitio.OID) (string, error) {
	if _, err := b.repo.Object(ctx, string(was)); err != nil {
		if errors.Is(err, gitio.ErrNotFound) {
			err = nil
		}
		return "", err
	}
	return b.repo.DiffBlobs(ctx, was, now)
}
