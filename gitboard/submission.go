package gitboard

import (
	"context"
	"errors"
	"slices"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Submission collects what only the repository knows about a task's submission: its commits and
// files, and what changed in its spec since the task was finalized. The task must have a review
// commit.
func (v *View) Submission(ctx context.Context, t *board.Task) (*report.Submission, error) {
	base, commit := plumbing.OID(t.ReviewBase), plumbing.OID(t.ReviewCommit)
	files, err := v.board.Repo().History().ChangedFiles(ctx, base, commit)
	if err != nil {
		return nil, err
	}
	commits, err := v.board.Repo().Log(ctx, base, commit)
	if err != nil {
		return nil, err
	}
	config := v.State.Config()
	if config == nil {
		return nil, v.State.Err()
	}
	s := report.SubmissionOf(config, t, files)
	s.Commits = subjects(commits)
	if e := t.Last(board.EventReady); e != nil {
		for i, c := range commits {
			if slices.Contains(e.Remade, string(c.OID)) {
				s.Commits[i] += " (remade after the refusal of " + string(e.RefusedAt) + ", first made before the checkpoint)"
			}
		}
	}
	if integration, err := v.board.Repo().Ref(ctx, v.IntegrationRef()); err != nil {
		return nil, err
	} else if !integration.IsZero() {
		unshown, err := v.board.Repo().Log(ctx, integration, base)
		if err != nil {
			return nil, err
		}
		s.Unshown = subjects(unshown)
	}
	now, err := v.SpecOID(ctx, t.SpecRef)
	if err != nil || t.SpecOID == "" || now == t.SpecOID {
		return s, err
	}
	s.SpecChanged = true
	if now != "" {
		s.SpecDiff, err = v.board.diffSpecs(ctx, plumbing.OID(t.SpecOID), plumbing.OID(now))
	}
	return s, err
}

// subjects returns each commit's short id and subject.
func subjects(commits []plumbing.Commit) (lines []string) {
	for _, c := range commits {
		lines = append(lines, c.OID.Short()+" "+text.Line(c.Subject(), 100))
	}
	return lines
}

// diffSpecs compares two versions of a spec. It returns "" if this clone lacks the old one.
func (b *Board) diffSpecs(ctx context.Context, was, now plumbing.OID) (string, error) {
	if _, err := b.Repo().Object(ctx, string(was)); err != nil {
		if errors.Is(err, git.ErrNotFound) {
			err = nil
		}
		return "", err
	}
	return b.Repo().History().DiffBlobs(ctx, was, now)
}
