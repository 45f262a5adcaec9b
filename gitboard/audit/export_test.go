package audit

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/oplog"
)

// Near replays a few operations as Examine does, over any store: it reads of the board before them what they need.
func Near(ctx context.Context, store oplog.Store, r Range) (*Report, error) {
	p, err := prove(ctx, store, nil, oplog.New(store, ""), r, nil)
	return p.reported(), err
}
