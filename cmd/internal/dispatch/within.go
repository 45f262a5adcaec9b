package dispatch

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
)

// Within executes command lines for a long-running program, as if typed in the directory of its
// call, with empty standard input. It prints nothing.
func Within(c *call.Call) call.Runs {
	return func(ctx context.Context, args []string) error {
		app := *c.App
		app.Stdin, app.Stdout, app.Stderr = strings.NewReader(""), io.Discard, io.Discard
		return dispatch(app.Context(ctx), &app, slices.Concat([]string{"-C", c.Directory()}, args))
	}
}
