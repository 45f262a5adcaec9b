package git

import (
	"context"
	"sync/atomic"
)

// Retries is how often the steps of one request may be tried again, all of them together: after a
// lost race, a lock in the way, or a network that failed. It travels in the context, so that every
// layer that retries spends the same. Without it, each layer has only a limit of its own.
type Retries struct {
	most  int64
	spent atomic.Int64
}

type retriesKey struct{}

// WithRetries returns a context for a request that may try its steps again that often.
func WithRetries(ctx context.Context, most int) (context.Context, *Retries) {
	r := &Retries{most: int64(most)}
	return context.WithValue(ctx, retriesKey{}, r), r
}

// RetriesOf returns the retries of the request in whose context a step runs, nil for none.
func RetriesOf(ctx context.Context) *Retries {
	r, _ := ctx.Value(retriesKey{}).(*Retries)
	return r
}

// Spend uses one retry and returns false if none was left. Nil always has one.
func (r *Retries) Spend() bool { return r == nil || r.spent.Add(1) <= r.most }

// Spent is how often the request lost or found something in its way, including the time after which
// no retry was left.
func (r *Retries) Spent() int { return int(r.spent.Load()) }

// MayRetry reports whether a step that has failed so often, and is tried at most so often, may be
// tried again. That uses one retry of the request.
func MayRetry(ctx context.Context, failed, most int) bool {
	return failed < most && RetriesOf(ctx).Spend()
}
