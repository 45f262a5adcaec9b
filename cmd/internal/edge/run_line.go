package edge

import "context"

// Done is what a command line has done, in its own words, and what else it printed.
type Done struct {
	Subject string
	Lines   []string
}

// Runs carries out a command line as it would be typed where the caller runs. The error of one that was refused is an
// *Outcome.
type Runs func(ctx context.Context, args []string) (Done, error)
