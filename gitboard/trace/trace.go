// Package trace prints where the time of a command goes.
//
// It may import nothing of ours.
package trace

import (
	"fmt"
	"os"
	"time"
)

// variable is the environment variable that makes commands print to standard error where their
// time goes.
const variable = "LIZA_TRACE"

var tracing = os.Getenv(variable) != ""

// Step marks the start of something that may take long. If tracing is on, done prints the time it
// took.
func Step(format string, args ...any) (done func()) {
	if !tracing {
		return func() {}
	}
	began := time.Now()
	return func() {
		fmt.Fprintf(os.Stderr, "trace: %7.1f ms  %s\n", float64(time.Since(began).Microseconds())/1000, fmt.Sprintf(format, args...))
	}
}
