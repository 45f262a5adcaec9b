package call

import "context"

// Runs executes a command line as if typed where the caller runs.
type Runs func(ctx context.Context, args []string) error
