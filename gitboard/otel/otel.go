package otel

import (
	"cmp"
	"context"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
)

// The environment variables that name the endpoint, as OpenTelemetry's own libraries read them.
const (
	endpointVar = "OTEL_EXPORTER_OTLP_ENDPOINT"
	headersVar  = "OTEL_EXPORTER_OTLP_HEADERS"
	serviceVar  = "OTEL_SERVICE_NAME"
)

// Config says what to export.
type Config struct {
	Getenv func(string) string
	Board  *gitboard.Board // this exporter's own
	PID    int             // of the process whose agents are exported
	Warn   func(string)    // gets the reason, once, if nothing arrives
}

// exporter follows a board and exports its operations.
type exporter struct {
	Config
	sender *sender
	story  *story
	seen   git.OID
	to     resource
	began  time.Time
}

// pollEvery is how often the board is read where the system can't report changes.
const pollEvery = 15 * time.Second

// Enabled reports whether there is a collector to send to.
func Enabled(getenv func(string) string) bool { return getenv(endpointVar) != "" }

// Export sends the collector what happens from now on. stop sends the rest and ends the export. It
// must only be called if Enabled.
func Export(ctx context.Context, c Config) (stop func(), err error) {
	v, err := c.Board.View(ctx)
	if err != nil {
		return nil, err
	}
	first, err := c.Board.Repo().RevList(ctx, git.ZeroOID, v.Commit)
	if err != nil {
		return nil, err
	}
	clone, err := c.Board.CloneID(ctx)
	if err != nil {
		return nil, err
	}
	e := &exporter{Config: c, seen: v.Commit, began: c.Board.Now()}
	e.to = resource{[]attribute{text("service.name", cmp.Or(c.Getenv(serviceVar), scopeName))}}
	e.story = newStory(first[0], v.State.ForRules(), func(r *board.Register) bool { return r.PID == c.PID && r.Clone == clone })
	if err := v.State.Err(); err != nil {
		return nil, err
	}
	if e.sender, err = newSender(c.Getenv(endpointVar), c.Getenv(headersVar), c.Warn); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	changed, err := c.Board.Follow(ctx, pollEvery)
	if err != nil {
		cancel()
		e.sender.close()
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.follow(ctx, changed)
	}()
	return func() {
		cancel()
		<-done
		ctx, end := context.WithTimeout(context.WithoutCancel(ctx), partingTime)
		defer end()
		e.look(ctx)
		e.sender.close()
	}, nil
}

func (e *exporter) follow(ctx context.Context, changed <-chan struct{}) {
	for range changed {
		e.look(ctx)
	}
}

// look exports what is new on the board. What can't be read now is read at the next look.
func (e *exporter) look(ctx context.Context) {
	spans, counted, err := e.read(ctx)
	for len(spans) > 0 {
		n := min(len(spans), mostSpans)
		e.sender.send("/v1/traces", e.story.traces(e.to, spans[:n]))
		spans = spans[n:]
	}
	if counted {
		e.sender.send("/v1/metrics", e.story.metrics(e.to, e.began, e.Board.Now()))
	}
	if err != nil && ctx.Err() == nil {
		e.sender.warn("the board can't be read: " + err.Error())
	}
}

// read turns the operations since the last look into spans. counted reports whether an agent has
// used tokens.
func (e *exporter) read(ctx context.Context) (spans []span, counted bool, err error) {
	v, err := e.Board.View(ctx)
	if err != nil || v.Commit == e.seen {
		return nil, false, err
	}
	commits, err := e.Board.Repo().RevList(ctx, e.seen, v.Commit)
	if err != nil {
		return nil, false, err
	}
	for _, commit := range commits {
		op, err := e.Board.Operation(ctx, commit)
		if err != nil {
			return spans, counted, err
		}
		e.seen = commit
		more := e.story.add(commit, op)
		spans = append(spans, more...)
		_, used := op.Payload.(*board.Usage)
		counted = counted || used && len(more) > 0
	}
	s := v.State.ForRules()
	return append(spans, e.story.tasks(s)...), counted, s.Err()
}
