package gitboard

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
)

// Patch is the change made by a submission.
type Patch struct {
	Task      string       `json:"task"`
	Number    int          `json:"submission"`
	Since     int          `json:"since,omitempty"` // submission compared with; 0: the base on integration
	From      plumbing.OID `json:"from"`
	To        plumbing.OID `json:"to"`
	Rewritten bool         `json:"rewritten"`            // does not build on the earlier submission
	RangeDiff bool         `json:"range_diff,omitempty"` // Text is a range-diff
	Text      string       `json:"diff"`
	// Comments are those on both submissions. Annotate sets them.
	Comments []report.Remark `json:"comments,omitempty"`
}

// Shows reports whether a line of the patch is the line that a comment is about.
func (p *Patch) Shows(r report.Remark, l plumbing.PatchLine) bool {
	switch {
	case r.Submission == p.Number && r.Deleted:
		return p.Since == 0 && l.Was == r.Path && l.Old == r.Line
	case r.Submission == p.Number:
		return l.Path == r.Path && l.New == r.Line
	}
	return !r.Deleted && l.Was == r.Path && l.Old == r.Line
}

// LastTwo returns the number of a task's last submission, and that of the newest earlier one with
// another commit; 0 if there is none.
func LastTwo(t *board.Task) (before, last int) {
	subs := t.Submitted()
	for i := len(subs) - 2; i >= 0; i-- {
		if subs[i].Commit != "" && subs[i].Commit != subs[len(subs)-1].Commit {
			return i + 1, len(subs)
		}
	}
	return 0, len(subs)
}

// SubmissionDiff returns what one of a task's submissions changes: all of it if since is 0, or else
// its difference from submission since. Files of other tasks, which a merge of integration brought
// in, are left out of the latter.
func (b *Board) SubmissionDiff(ctx context.Context, t *board.Task, since, number int) (*Patch, error) {
	subs := t.Submitted()
	switch {
	case len(subs) == 0:
		return nil, board.Refusef(board.CodeWrongState, "%s is %s: nothing of it was submitted", t.ID, t.Status).Way(board.ActOn("show", t.ID))
	case number < 1 || number > len(subs) || since < 0 || since > len(subs):
		return nil, board.Refusef(board.CodeInvalid, "%s has %d submissions, not %d", t.ID, len(subs), max(number, since)).Way(board.ActOn("show", t.ID))
	}
	now := subs[number-1]
	p := &Patch{Task: t.ID, Number: number, Since: since, From: plumbing.OID(now.Base), To: plumbing.OID(now.Commit)}
	var err error
	if since == 0 {
		p.Text, err = b.Repo().History().Diff(ctx, p.From, p.To)
	} else {
		err = b.between(ctx, p, subs[since-1], now)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Annotate adds the comments on a patch's two submissions to it.
func (b *Board) Annotate(ctx context.Context, t *board.Task, p *Patch) error {
	all, err := b.Remarks(ctx, t)
	for _, r := range all {
		if r.Submission == p.Number || r.Submission == p.Since {
			p.Comments = append(p.Comments, r)
		}
	}
	return err
}

// SinceLast returns what is new in a task's last submission compared with the one before it: as a
// range-diff if the commits were rewritten.
func (b *Board) SinceLast(ctx context.Context, t *board.Task) (*Patch, error) {
	since, number := LastTwo(t)
	if number > 0 && since == 0 {
		return nil, board.Refusef(board.CodeWrongState, "%s was submitted once: there is none before it", t.ID).Way(board.ActOn("diff", t.ID))
	}
	p, err := b.SubmissionDiff(ctx, t, since, number)
	if err != nil || !p.Rewritten {
		return p, err
	}
	subs := t.Submitted()
	p.RangeDiff = true
	p.Text, err = b.Repo().History().RangeDiff(ctx, plumbing.OID(subs[since-1].Base), p.From, plumbing.OID(subs[number-1].Base), p.To)
	return p, err
}

// between fills in a patch with the difference between two submissions.
func (b *Board) between(ctx context.Context, p *Patch, before, now board.Event) error {
	p.From = plumbing.OID(before.Commit)
	follows, err := b.Repo().History().IsAncestor(ctx, p.From, p.To)
	if err != nil {
		return err
	}
	p.Rewritten = !follows
	files := make([][]string, 3)
	for i, pair := range [][2]string{{before.Commit, now.Commit}, {before.Base, before.Commit}, {now.Base, now.Commit}} {
		if files[i], err = b.Repo().History().ChangedFiles(ctx, plumbing.OID(pair[0]), plumbing.OID(pair[1])); err != nil {
			return err
		}
	}
	own := report.OwnFiles(files[0], files[1], files[2])
	if len(own) == 0 {
		return nil
	}
	p.Text, err = b.Repo().History().Diff(ctx, p.From, p.To, own...)
	return err
}
