package audit

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/oplog"
)

// Near replays a few operations as Examine does, on any store. Of the board before them it reads
// only what they need.
func Near(ctx context.Context, store oplog.Store, r Range) (*Report, error) {
	p, err := prove(ctx, store, nil, oplog.New(store, ""), r, nil, nil)
	return p.reported(), err
}
