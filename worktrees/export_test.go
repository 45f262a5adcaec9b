package worktrees

import "context"

// Unsteady has the steps after an operation run in a context of a test's where it has one.
func Unsteady(own func(ctx context.Context) context.Context) {
	really := steady
	steady = func(ctx context.Context) (context.Context, context.CancelFunc) {
		if c := own(ctx); c != nil {
			return c, func() {}
		}
		return really(ctx)
	}
}
