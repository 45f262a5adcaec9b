package gitboard

import (
	"cmp"
	"context"
	"slices"
	"strings"

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
	if s.Unresolved, err = v.board.Repo().History().Unresolved(ctx, base, commit); err != nil {
		return nil, err
	}
	s.Commits = subjects(commits)
	if e := t.Last(board.EventReady); e != nil {
		for i, c := range commits {
			if slices.Contains(e.Remade, string(c.OID)) {
				s.Commits[i] = c.OID.Short() + " (remade after the refusal of " + string(e.RefusedAt) + ") " + text.Line(c.Subject(), 100)
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
		_, anchor, _ := strings.Cut(t.SpecRef, "#")
		s.SpecDiff, s.SpecChanged, err = v.board.diffSpecs(ctx, plumbing.OID(t.SpecOID), plumbing.OID(now), anchor)
	}
	return s, err
}

// NewerSpec returns what changed in a task's spec on integration that its branch in this clone does
// not have yet, "" for nothing.
func (v *View) NewerSpec(ctx context.Context, t *board.Task) (string, error) {
	path, anchor, _ := strings.Cut(t.SpecRef, "#")
	work, err := v.board.Repo().Ref(ctx, v.TaskRef(t.ID))
	if err != nil || work.IsZero() || path == "" {
		return "", err
	}
	tip, err := v.IntegrationTip(ctx)
	if err != nil || tip.IsZero() {
		return "", err
	}
	versions := make([]plumbing.OID, 2)
	at := func(i int, commit plumbing.OID) error {
		versions[i], err = v.board.Repo().History().FileOID(ctx, commit, path)
		return ignore(err, git.ErrNotFound)
	}
	if err := cmp.Or(at(0, work), at(1, tip)); err != nil || versions[0] == versions[1] {
		return "", err
	}
	base, err := v.board.Repo().History().MergeBase(ctx, tip, work)
	if err != nil || base == tip {
		return "", ignore(err, git.ErrNotFound)
	}
	if err := at(0, base); err != nil {
		return "", err
	}
	switch was, now := versions[0], versions[1]; {
	case was == now:
		return "", nil
	case was.IsZero():
		return path + " is new on integration", nil
	case now.IsZero():
		return path + " was deleted on integration", nil
	default:
		diff, _, err := v.board.diffSpecs(ctx, was, now, anchor)
		return diff, err
	}
}

// subjects returns each commit's short id and subject.
func subjects(commits []plumbing.Commit) (lines []string) {
	for _, c := range commits {
		lines = append(lines, c.OID.Short()+" "+text.Line(c.Subject(), 100))
	}
	return lines
}

// diffSpecs compares a section of two versions of a spec, or the whole spec if one of them lacks the section.
// The diff is "" if this clone lacks the old version.
func (b *Board) diffSpecs(ctx context.Context, was, now plumbing.OID, anchor string) (diff string, changed bool, err error) {
	texts, err := b.Repo().Objects(ctx, []string{string(was), string(now)})
	if err != nil || texts[0].OID == "" {
		return "", true, err
	}
	diff, err = b.Repo().History().DiffBlobs(ctx, was, now)
	diff = ofSection(diff, string(texts[0].Data), string(texts[1].Data), anchor)
	return diff, diff != "", err
}

// ofSection keeps the hunks of a patch without a file header that change a section of a text.
func ofSection(patch, was, now, anchor string) string {
	oldFirst, oldEnd, had := text.Section(was, anchor)
	first, end, has := text.Section(now, anchor)
	if !had || !has {
		return patch
	}
	var kept, hunk string
	inside := false
	for l := range plumbing.PatchLines("diff --git a/spec b/spec\n" + patch) {
		switch {
		case l.Kind == plumbing.PatchFile:
			continue
		case l.Kind == plumbing.PatchHunk:
			hunk, inside = "", false
		case l.Kind == plumbing.PatchAdded && first <= l.New && l.New < end, l.Kind == plumbing.PatchGone && oldFirst <= l.Old && l.Old < oldEnd:
			inside = true
		}
		if hunk += l.Text + "\n"; inside {
			kept, hunk = kept+hunk, ""
		}
	}
	return kept
}
