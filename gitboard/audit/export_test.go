package audit

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/log"
)

// Near replays a few operations as Examine does, on any store. Of the board before them it reads
// only what they need.
func Near(ctx context.Context, store log.Store, r Range) (*Report, error) {
	p, err := prove(ctx, store, nil, log.NewReader(store, ""), r, nil, nil)
	return p.reported(), err
}
