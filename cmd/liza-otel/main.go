package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// scopeName is the name of the instrumentation scope, and of the service unless OTEL_SERVICE_NAME
// sets another.
const scopeName = "git-liza"

const endpointVar = "OTEL_EXPORTER_OTLP_ENDPOINT"

const (
	pollEvery   = 15 * time.Second // how often the board is read where the system can't report changes
	partingTime = 2 * time.Second  // for sending the rest at the end
)

func main() {
	pid := pflag.Int("pid", os.Getppid(), "export the agents of the process with this `PID`, and humans' operations")
	dir := pflag.StringP("directory", "C", ".", "a `DIR` of the repository")
	pflag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *dir, *pid, os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "liza-otel:", err)
		os.Exit(1)
	}
}

// run exports what happens on the board of dir from now on, until the input ends. It prints a line
// when it has begun, and the first failure to send as a line of errs.
func run(ctx context.Context, dir string, pid int, in io.Reader, out, errs io.Writer) error {
	var once sync.Once
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		once.Do(func() { fmt.Fprintf(errs, "some operations are not sent: %v\n", err) })
	}))
	b, err := gitboard.Open(ctx, dir, gitboard.Options{Now: time.Now})
	if err != nil {
		return err
	}
	defer b.Close()
	e, err := newExporter(ctx, b, pid)
	if err != nil {
		return err
	}
	defer e.close(ctx)
	following, stop := context.WithCancel(ctx)
	defer stop()
	changed, err := b.Follow(following, pollEvery)
	if err != nil {
		return err
	}
	go func() {
		defer stop()
		_, _ = io.Copy(io.Discard, in)
	}()
	fmt.Fprintln(out, "following")
	for range changed {
		if err := e.look(ctx); err != nil && ctx.Err() == nil {
			otel.Handle(fmt.Errorf("read the board: %w", err))
		}
	}
	return e.look(context.WithoutCancel(ctx))
}

// exporter exports a board's operations.
type exporter struct {
	board  *gitboard.Board
	story  *story
	seen   plumbing.OID
	tracer trace.Tracer
	tokens metric.Int64Counter
	closes []func(context.Context) error
}

// newExporter connects to the collector that the environment names.
func newExporter(ctx context.Context, b *gitboard.Board, pid int) (*exporter, error) {
	v, err := b.View(ctx)
	if err != nil {
		return nil, err
	}
	first, err := b.Repo().History().RevList(ctx, plumbing.ZeroOID, v.Commit)
	if err != nil {
		return nil, err
	}
	clone, err := b.Clone().ID(ctx)
	if err != nil {
		return nil, err
	}
	s := newStory(first[0], v.State.ForRules(), func(r *board.Register) bool { return r.PID == pid && r.Clone == clone })
	if err := v.State.Err(); err != nil {
		return nil, err
	}
	if err := checkEndpoint(); err != nil {
		return nil, err
	}
	spans, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	metrics, err := otlpmetrichttp.New(ctx)
	if err != nil {
		return nil, err
	}
	service, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", scopeName)), resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	traces := sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans), sdktrace.WithResource(service), sdktrace.WithIDGenerator(ids{}))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metrics)), sdkmetric.WithResource(service))
	tokens, err := meters.Meter(scopeName).Int64Counter("liza.tokens", metric.WithUnit("{token}"),
		metric.WithDescription("Tokens that the runs of agents have used."))
	if err != nil {
		return nil, err
	}
	return &exporter{b, s, v.Commit, traces.Tracer(scopeName), tokens, []func(context.Context) error{traces.Shutdown, meters.Shutdown}}, nil
}

// checkEndpoint refuses an address for which the libraries would fall back to this host. The error
// does not repeat it, because it may hold a password.
func checkEndpoint() error {
	if u, err := url.Parse(os.Getenv(endpointVar)); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New(endpointVar + " is not the address of a collector, like http://localhost:4318")
	}
	return nil
}

// close sends the rest, for a short time.
func (e *exporter) close(ctx context.Context) {
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), partingTime)
	defer end()
	for _, shutdown := range e.closes {
		if err := shutdown(ctx); err != nil {
			otel.Handle(err)
		}
	}
}

// look exports the operations since the last look. What can't be read now is read at the next.
func (e *exporter) look(ctx context.Context) error {
	v, err := e.board.View(ctx)
	if err != nil || v.Commit == e.seen {
		return err
	}
	commits, err := e.board.Repo().History().RevList(ctx, e.seen, v.Commit)
	if err != nil {
		return err
	}
	for _, commit := range commits {
		op, err := e.board.Operation(ctx, commit)
		if err != nil {
			return err
		}
		e.seen = commit
		e.send(ctx, e.story.add(commit, op))
		for _, c := range e.story.counted() {
			e.tokens.Add(ctx, int64(c.n), metric.WithAttributes(
				attribute.String("liza.role", c.role), attribute.String("gen_ai.request.model", c.model), attribute.String("liza.kind", c.kind)))
		}
	}
	s := v.State.ForRules()
	e.send(ctx, e.story.tasks(s))
	return s.Err()
}

// send hands spans to the batch that waits for the collector.
func (e *exporter) send(ctx context.Context, spans []span) {
	for _, s := range spans {
		ctx := context.WithValue(ctx, ids{}, s.id)
		in := trace.SpanContextConfig{TraceID: e.story.trace(), SpanID: s.parent, TraceFlags: trace.FlagsSampled, Remote: true}
		if s.parent.IsValid() {
			ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(in))
		} else {
			ctx = context.WithValue(ctx, traceKey{}, e.story.trace())
		}
		_, sp := e.tracer.Start(ctx, s.name, trace.WithTimestamp(s.from), trace.WithAttributes(s.attributes...))
		if s.failed != "" {
			sp.SetStatus(codes.Error, s.failed)
		}
		sp.End(trace.WithTimestamp(s.to))
	}
}

// ids gives a span the identifiers that the board gives it: they are values of its context.
type ids struct{}

type traceKey struct{}

func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	id, _ := ctx.Value(traceKey{}).(trace.TraceID)
	return id, ids{}.NewSpanID(ctx, id)
}

func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	id, _ := ctx.Value(ids{}).(trace.SpanID)
	return id
}
