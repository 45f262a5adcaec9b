package audit

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Foreign are commits on top of an intact board that are no operations. People make them when an
// editor has checked the board's branch out.
type Foreign struct {
	Tip, Board plumbing.OID // where the branch is, and the newest operation
	Subjects   []string     // of the commits, newest first
}

// FindForeign returns nil if the newest commit is an operation, or if the board below does not
// follow by replay.
func FindForeign(ctx context.Context, repo *git.Repo) (*Foreign, error) {
	tip, err := repo.Ref(ctx, plumbing.BoardRef)
	if err != nil || tip.IsZero() {
		return nil, err
	}
	f := &Foreign{Tip: tip, Board: tip}
	for range maxPositions {
		c, err := commitOf(ctx, repo, f.Board)
		if err != nil {
			return nil, err
		}
		if _, err := codec.ParseHead(c.Message); err == nil {
			break
		}
		f.Subjects = append(f.Subjects, c.OID.Short()+" "+text.Line(c.Subject(), maxSubject))
		if f.Board = first(c); f.Board.IsZero() {
			return nil, nil
		}
	}
	if f.Board == f.Tip {
		return nil, nil
	}
	if report, err := Verify(ctx, repo, nil, Range{To: f.Board}, nil); err != nil || !report.OK() {
		return nil, err
	}
	return f, nil
}

// Repair moves the board back to its newest operation. The attic keeps the commits.
func (f *Foreign) Repair(ctx context.Context, repo *git.Repo) error {
	const task = "state" // the attic's name for them
	kept, err := repo.Refs(ctx, plumbing.AtticPrefix+task+"/")
	if err != nil {
		return err
	}
	return repo.UpdateRefs(ctx, []plumbing.RefUpdate{
		{Ref: plumbing.AtticRef(task, len(kept)+1), New: f.Tip}, {Ref: plumbing.BoardRef, Old: f.Tip, New: f.Board},
	}, "git liza: doctor, back to the newest operation")
}

// String describes them in one sentence.
func (f *Foreign) String() string {
	return fmt.Sprintf("%s by hand on %s: %s; the board is intact at %s, and the attic keeps what came later", text.Plural(len(f.Subjects), "commit"),
		plumbing.BranchName(plumbing.BoardRef), strings.Join(f.Subjects, "; "), f.Board.Short())
}
