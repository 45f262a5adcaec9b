// Package retry counts how often the steps of a request are tried again.
//
// It may import nothing of ours.
package retry

import (
	"context"
	"sync/atomic"
)

// Budget is how often the steps of one request may be tried again, all of them together: after a
// lost race, a lock in the way, or a network that failed. It travels in the context, so that every
// layer that retries spends the same. Without it, each layer has only a limit of its own.
type Budget struct {
	most  int64
	spent atomic.Int64
}

type key struct{}

// With returns a context for a request that may try its steps again that often.
func With(ctx context.Context, most int) (context.Context, *Budget) {
	r := &Budget{most: int64(most)}
	return context.WithValue(ctx, key{}, r), r
}

// Of returns the retries of the request in whose context a step runs, nil for none.
func Of(ctx context.Context) *Budget {
	r, _ := ctx.Value(key{}).(*Budget)
	return r
}

// Spend uses one retry and returns false if none was left. Nil always has one.
func (r *Budget) Spend() bool { return r == nil || r.spent.Add(1) <= r.most }

// Spent is how often the request lost or found something in its way, including the time after which
// no retry was left.
func (r *Budget) Spent() int { return int(r.spent.Load()) }

// May reports whether a step that has failed so often, and is tried at most so often, may be
// tried again. That uses one retry of the request.
func May(ctx context.Context, failed, most int) bool {
	return failed < most && Of(ctx).Spend()
}
