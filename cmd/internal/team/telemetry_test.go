package team

import (
	"runtime"
	"testing"

	"github.com/git-liza/git-liza/cmd/internal/edge"
)

// TestNoTelemetry: without a collector nothing is opened, called or started; the call here has
// no repository.
func TestNoTelemetry(t *testing.T) {
	asked := map[string]bool{}
	c := &edge.Call{App: &edge.App{Getenv: func(name string) string { asked[name] = true; return "" }}}
	before := runtime.NumGoroutine()
	stop := Telemetry(t.Context(), c, func(text string) { t.Error(text) })
	if now := runtime.NumGoroutine(); now > before { // one of the runtime's own may have ended
		t.Errorf("%d goroutines, before %d", now, before)
	}
	stop()
	if len(asked) != 1 || !asked["OTEL_EXPORTER_OTLP_ENDPOINT"] {
		t.Errorf("it asks for %v", asked)
	}
}
