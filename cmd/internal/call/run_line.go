package call

import "context"

// Done is the report of a command line that succeeded.
type Done struct {
	Subject string
	Lines   []string
}

// Runs executes a command line as if typed where the caller runs. The error of a refused one is an
// *Outcome.
type Runs func(ctx context.Context, args []string) (Done, error)
