package gitboard

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
)

// Sprints returns the sprints in the history of a view's board, as each was when it began, oldest
// first. The board itself only holds the last one.
func (v *View) Sprints(ctx context.Context) ([]board.Sprint, error) {
	commits, err := v.board.store.Log(ctx, plumbing.ZeroOID, v.Commit)
	if err != nil {
		return nil, err
	}
	var all []board.Sprint
	for _, c := range commits {
		head, err := codec.ParseHead(c.Message)
		if err != nil || !board.BeginsSprint(head.Op) {
			continue
		}
		s, err := v.board.reader.At(ctx, c.OID)
		if err != nil {
			return nil, err
		}
		sp := s.State.Sprint()
		if sp == nil {
			return nil, s.State.Err()
		}
		all = append(all, *sp)
	}
	return all, nil
}
