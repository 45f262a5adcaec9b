package gitio

import (
	"fmt"
	"os"
	"time"
)

// TraceVariable is the environment variable that has commands print where their time goes, to standard error.
const TraceVariable = "LIZA_TRACE"

var tracing = os.Getenv(TraceVariable) != ""

// Trace begins something that may take long. Where somebody traces, done prints how long it took.
func Trace(format string, args ...any) (done func()) {
	if !tracing {
		return func() {}
	}
	began := time.Now()
	return func() {
		fmt.Fprintf(os.Stderr, "trace: %7.1f ms  %s\n", float64(time.Since(began).Microseconds())/1000, fmt.Sprintf(format, args...))
	}
}
