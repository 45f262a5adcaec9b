package git

import (
	"fmt"
	"os"
	"time"
)

// traceVariable is the environment variable that makes commands print to standard error where their
// time goes.
const traceVariable = "LIZA_TRACE"

var tracing = os.Getenv(traceVariable) != ""

// Trace marks the start of something that may take long. If tracing is on, done prints the time it
// took.
func Trace(format string, args ...any) (done func()) {
	if !tracing {
		return func() {}
	}
	began := time.Now()
	return func() {
		fmt.Fprintf(os.Stderr, "trace: %7.1f ms  %s\n", float64(time.Since(began).Microseconds())/1000, fmt.Sprintf(format, args...))
	}
}
