package team

import (
	"context"
	"os"
	"sync"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/otel"
)

// Telemetry exports what this process's agents do to the OpenTelemetry collector that the
// environment names, if any, until stop is called. A failure is reported once by warn, and stops
// nothing.
func Telemetry(ctx context.Context, c *edge.Call, warn func(text string)) (stop func()) {
	if !otel.Enabled(c.App.Getenv) {
		return func() {}
	}
	b, err := gitboard.Open(ctx, c.Directory(), gitboard.Options{Now: c.App.Now})
	if err != nil {
		warn("OpenTelemetry: " + err.Error())
		return func() {}
	}
	end, err := otel.Export(ctx, otel.Config{Getenv: c.App.Getenv, Board: b, PID: os.Getpid(), Warn: warn})
	if err != nil {
		warn("OpenTelemetry: " + err.Error())
		end = func() {}
	}
	return sync.OnceFunc(func() {
		end()
		_ = b.Close() // it has written nothing
	})
}
