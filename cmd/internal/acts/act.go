package acts

import (
	"context"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

// Of is the act of an operation that a function of this package carries out.
func Of[P board.Payload](do func(context.Context, *call.Call, P) (call.Result, error), p P) call.Act {
	return Named(p.Op(), do, p)
}

// Named is the act of a function of this package, with the name of the command that does the same.
func Named[P any](op string, do func(context.Context, *call.Call, P) (call.Result, error), p P) call.Act {
	return call.Act{Op: op, Do: func(ctx context.Context, c *call.Call) (call.Result, error) { return do(ctx, c, p) }}
}

// Plain is the act of an operation that needs nothing else.
func Plain(p board.Payload) call.Act {
	return Of(func(ctx context.Context, c *call.Call, p board.Payload) (call.Result, error) { return c.Doing(ctx, p) }, p)
}

// All is the act of operations in one transaction, with the name of the first.
func All(set ...board.Payload) call.Act {
	return Named(set[0].Op(), func(ctx context.Context, c *call.Call, set []board.Payload) (call.Result, error) {
		return Together(ctx, c, set[0].Op(), func(context.Context, *gitboard.View) ([]board.Payload, error) { return set, nil })
	}, set)
}
