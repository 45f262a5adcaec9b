package gitboard

import (
	"context"
	"fmt"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/report"
)

// Patch is what a submission changes.
type Patch struct {
	Task      string  `json:"task"`
	Number    int     `json:"submission"`
	Since     int     `json:"since,omitempty"` // the submission that it is compared with; 0: where the work left integration
	From      git.OID `json:"from"`
	To        git.OID `json:"to"`
	Rewritten bool    `json:"rewritten"` // its commits do not follow from those of the one before: text is a range-diff
	Text      string  `json:"diff"`
}

// SubmissionDiff is what a task's last submission changes: all of it, or what is new since the one before. Files of
// other tasks, which came by a merge of integration, are left out.
func (b *Board) SubmissionDiff(ctx context.Context, t *board.Task, sinceLast bool) (*Patch, error) {
	var all []board.Event // of each commit once
	for _, e := range t.History {
		if e.Event == board.EventReady && e.Commit != "" && (len(all) == 0 || all[len(all)-1].Commit != e.Commit) {
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		return nil, board.Refuse(board.CodeWrongState, fmt.Sprintf("%s is %s: nothing of it was submitted", t.ID, t.Status), "git liza show "+t.ID)
	}
	now := all[len(all)-1]
	p := &Patch{Task: t.ID, Number: len(all), From: git.OID(now.Base), To: git.OID(now.Commit)}
	if !sinceLast {
		var err error
		p.Text, err = b.Repo().Diff(ctx, p.From, p.To)
		return p, err
	}
	if len(all) == 1 {
		return nil, board.Refuse(board.CodeWrongState, t.ID+" was submitted once: there is none before it", "git liza diff "+t.ID)
	}
	return p, b.sinceLast(ctx, p, all[len(all)-2], now)
}

// sinceLast completes a patch with what differs from the submission before.
func (b *Board) sinceLast(ctx context.Context, p *Patch, before, now board.Event) error {
	p.Since, p.From = p.Number-1, git.OID(before.Commit)
	follows, err := b.Repo().IsAncestor(ctx, p.From, p.To)
	if err != nil {
		return err
	}
	if p.Rewritten = !follows; p.Rewritten {
		p.Text, err = b.Repo().RangeDiff(ctx, git.OID(before.Base), p.From, git.OID(now.Base), p.To)
		return err
	}
	files := make([][]string, 3)
	for i, pair := range [][2]string{{before.Commit, now.Commit}, {before.Base, before.Commit}, {now.Base, now.Commit}} {
		if files[i], err = b.Repo().ChangedFiles(ctx, git.OID(pair[0]), git.OID(pair[1])); err != nil {
			return err
		}
	}
	own := report.OwnFiles(files[0], files[1], files[2])
	if len(own) == 0 {
		return nil
	}
	p.Text, err = b.Repo().Diff(ctx, p.From, p.To, own...)
	return err
}
