package gitboard

import (
	"bytes"
	"context"
	"slices"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
)

// CommentRequest is a comment on a line of the submission under review.
type CommentRequest struct {
	Request
	Task   string
	Commit string // full id of the submission that was read; "" for the one under review
	Path   string
	Line   int
	Text   string
}

// Comment puts a comment on the board. It looks up the number of lines of the file.
func (b *Board) Comment(ctx context.Context, r CommentRequest) (*Done, error) {
	return b.Do(ctx, r.Request, func(ctx context.Context, v *View) (board.Payload, []plumbing.RefUpdate, error) {
		t, err := v.State.FindTask(r.Task)
		if err != nil {
			return nil, nil, err
		}
		p := &board.Comment{About: board.About{Task: r.Task}, Commit: r.Commit, Path: r.Path, Line: r.Line, Text: r.Text}
		if p.Commit == "" {
			p.Commit = t.ReviewCommit
		}
		if t.Status != board.ReadyForReview || p.Commit != t.ReviewCommit || !board.IsFilePath(p.Path) {
			return p, nil, nil // the rules refuse it
		}
		return p, nil, b.countLines(ctx, t, p)
	})
}

// countLines adds to a comment what the repository knows of its file: its number of lines, and
// whether it was deleted.
func (b *Board) countLines(ctx context.Context, t *board.Task, p *board.Comment) error {
	files, err := b.Repo().Objects(ctx, []string{t.ReviewCommit + ":" + p.Path, t.ReviewBase + ":" + p.Path})
	if err != nil {
		return err
	}
	file := files[0]
	if file.Type != plumbing.BlobObject {
		file, p.Deleted = files[1], true
	}
	switch {
	case file.Type != plumbing.BlobObject:
		return board.Refusef(board.CodeInvalid, "%s is not a file of the submission %.10s of %s", text.Line(p.Path, 80), t.ReviewCommit, t.ID).Way(board.ActOn("review", t.ID).With("diff", ""))
	case bytes.IndexByte(file.Data, 0) >= 0:
		return board.Refuse(board.CodeInvalid, text.Line(p.Path, 80)+" is not a text: it has no lines", "say it in the reason of the verdict")
	}
	p.Lines = plumbing.CountLines(file.Data)
	return nil
}

// Remarks returns the comments on a task's submissions, each with its line of code and with later
// submissions' changes to it. For submissions that are not in this clone, it returns only the
// comment.
func (b *Board) Remarks(ctx context.Context, t *board.Task) ([]report.Remark, error) {
	if len(t.Comments) == 0 {
		return nil, nil
	}
	subs := t.Submitted()
	all := make([]report.Remark, len(t.Comments))
	names := make([]string, len(all))
	for i, c := range t.Comments {
		all[i] = report.Remark{LineComment: c, Open: t.Status == board.ReadyForReview && c.Submission == len(subs)}
		names[i] = string(origin(subs, c)) + ":" + c.Path
	}
	files, err := b.Repo().Objects(ctx, names)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if files[i].Type == plumbing.BlobObject {
			all[i].Code = text.Visible(plumbing.LineOf(files[i].Data, all[i].Line))
		}
	}
	for n := range subs {
		if err := b.touch(ctx, subs, n+1, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// origin returns the commit whose file a comment is about.
func origin(subs []board.Event, c board.LineComment) plumbing.OID {
	if n := c.Submission; c.Deleted && n >= 1 && n <= len(subs) {
		return plumbing.OID(subs[n-1].Base)
	}
	return plumbing.OID(c.Commit)
}

// touch compares the files of the comments on submission n with later submissions, until each
// commented place was changed.
func (b *Board) touch(ctx context.Context, subs []board.Event, n int, all []report.Remark) error {
	for later := n + 1; later <= len(subs); later++ {
		from := map[plumbing.OID][]*report.Remark{}
		for i := range all {
			if r := &all[i]; r.Submission == n && r.Touched == 0 {
				from[origin(subs, r.LineComment)] = append(from[origin(subs, r.LineComment)], r)
			}
		}
		for commit, remarks := range from {
			if err := b.touchedBy(ctx, commit, plumbing.OID(subs[later-1].Commit), later, remarks); err != nil {
				return err
			}
		}
	}
	return nil
}

// touchedBy records, in remarks about files of one commit, what a later submission changed.
func (b *Board) touchedBy(ctx context.Context, from, to plumbing.OID, later int, remarks []*report.Remark) error {
	if here, err := b.Repo().Objects(ctx, []string{string(from), string(to)}); err != nil || here[0].OID == "" || here[1].OID == "" {
		return err
	}
	var paths []string
	for _, r := range remarks {
		if !slices.Contains(paths, r.Path) {
			paths = append(paths, r.Path)
		}
	}
	patch, err := b.Repo().History().Diff(ctx, from, to, paths...)
	if err != nil {
		return err
	}
	for _, r := range remarks {
		r.Later = later
		switch file, there := changedAt(patch, r.Path, r.Line); {
		case there && !r.Deleted, r.Deleted && !stillGone(patch, r.Path):
			r.Touched = later
		case file && !r.Deleted && r.Elsewhere == 0:
			r.Elsewhere = later
		}
	}
	return nil
}

// nearby is how many lines before and after a commented line belong to its place.
const nearby = 2

// changedAt reports whether a patch changes a file of the older tree (file), and whether it changes
// it near a line (there).
func changedAt(patch, path string, line int) (file, there bool) {
	near := func(first, last int) bool { return first-nearby <= line && line <= last+nearby }
	at := 0           // the last line seen of the older file
	replaced := false // the added lines take the place of that line
	for l := range plumbing.PatchLines(patch) {
		if l.Kind == plumbing.PatchFile {
			at = 0
		}
		if l.Was != path {
			continue
		}
		file = true
		at = max(at, l.Old)
		switch l.Kind {
		case plumbing.PatchGone:
			replaced = true
			there = there || near(l.Old, l.Old)
		case plumbing.PatchAdded:
			there = there || !replaced && near(at, at+1)
		case plumbing.PatchSame, plumbing.PatchHunk:
			replaced = false
		}
	}
	return file, there
}

// stillGone reports whether a patch from a review's base deletes a file.
func stillGone(patch, path string) bool {
	for l := range plumbing.PatchLines(patch) {
		if l.Was == path && l.Deleted {
			return true
		}
	}
	return false
}
