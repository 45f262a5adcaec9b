package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlptrace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// collector keeps what it gets, or answers with an error.
type collector struct {
	mu      sync.Mutex
	status  int
	spans   map[string]*otlptrace.Span
	service string
	header  http.Header
	tokens  map[string]int64 // by kind
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	w.WriteHeader(c.status)
	var traces collectortrace.ExportTraceServiceRequest
	var metrics collectormetrics.ExportMetricsServiceRequest
	switch {
	case r.URL.Path == "/base/v1/traces" && proto.Unmarshal(body, &traces) == nil:
		c.header = r.Header
		for _, resource := range traces.ResourceSpans {
			c.service = resource.Resource.Attributes[0].Value.GetStringValue()
			for _, sp := range resource.ScopeSpans[0].Spans {
				c.spans[sp.Name] = sp
			}
		}
	case r.URL.Path == "/base/v1/metrics" && proto.Unmarshal(body, &metrics) == nil:
		for _, p := range metrics.ResourceMetrics[0].ScopeMetrics[0].Metrics[0].GetSum().DataPoints {
			for _, a := range p.Attributes {
				if a.Key == "liza.kind" {
					c.tokens[a.Value.GetStringValue()] = p.GetAsInt()
				}
			}
		}
	}
}

// exported runs liza-otel on a board on which an agent of this process uses tokens, and returns its
// output about failures.
func exported(t *testing.T, c *collector) string {
	t.Helper()
	server := httptest.NewServer(c)
	defer server.Close()
	t.Setenv(endpointVar, server.URL+"/base")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b")
	t.Setenv("OTEL_SERVICE_NAME", "furniture")
	dir := t.TempDir()
	testrun.InitRepository(t, dir, false)
	ctx := t.Context()
	b := testrun.Must(gitboard.Open(ctx, dir, gitboard.Options{Now: time.Now}))(t)
	defer b.Close()
	do := func(a board.Actor, p board.Payload) {
		t.Helper()
		testrun.Must(b.Do(ctx, gitboard.Request{Actor: a}, gitboard.Just(p)))(t)
	}
	do(human, &board.Init{Goal: "Sell furniture", IntegrationBranch: "integration"})
	clone := testrun.Must(b.Clone().ID(ctx))(t)
	in, end := io.Pipe()
	out, began := io.Pipe()
	var errs strings.Builder
	done := make(chan error, 1)
	go func() { done <- run(ctx, dir, here, in, began, &errs) }()
	testrun.Must(out.Read(make([]byte, 64)))(t)
	planner := actor("planner-1")
	do(planner, &board.Register{Session: planner.Session, Clone: clone, PID: here})
	do(planner, &board.Usage{CLI: "claude", Model: "m", Cost: board.Cost{Input: 900, Cached: 600, Output: 50, Seconds: 60}})
	do(human, &board.AddNote{For: "human", Message: "a secret"})
	end.Close()
	testrun.Check(t, <-done)
	return errs.String()
}

// TestExport: a collector gets the spans of a board with the identifiers that the board gives them,
// the tokens, and the headers and service of the environment.
func TestExport(t *testing.T) {
	c := &collector{status: http.StatusOK, spans: map[string]*otlptrace.Span{}, tokens: map[string]int64{}}
	if said := exported(t, c); said != "" {
		t.Error(said)
	}
	run, note := c.spans["run"], c.spans["note"]
	if run == nil || note == nil || c.spans["register"] == nil {
		t.Fatalf("spans: %v", c.spans)
	}
	if string(run.TraceId) != string(note.TraceId) || len(run.ParentSpanId) != 8 || string(run.ParentSpanId) != string(note.ParentSpanId) ||
		run.EndTimeUnixNano-run.StartTimeUnixNano != uint64(time.Minute) || run.Kind != otlptrace.Span_SPAN_KIND_INTERNAL {
		t.Errorf("run %v, note %v", run, note)
	}
	if strings.Contains(note.String(), "secret") || c.service != "furniture" || c.header.Get("api-key") != "a b" {
		t.Errorf("%v of %s with %v", note, c.service, c.header)
	}
	if c.tokens["input"] != 300 || c.tokens["cached"] != 600 || c.tokens["output"] != 50 {
		t.Errorf("tokens: %v", c.tokens)
	}
}

// TestFailingCollector: a collector that answers with an error ends nothing, and is reported once.
func TestFailingCollector(t *testing.T) {
	said := exported(t, &collector{status: http.StatusForbidden})
	if strings.Count(said, "\n") != 1 || !strings.Contains(said, "some operations are not sent") || strings.Contains(said, "a b") {
		t.Errorf("%q", said)
	}
}

// TestAddresses: an address that is none is refused, and not repeated: it may hold a password.
func TestAddresses(t *testing.T) {
	for _, endpoint := range []string{"localhost:4318", "grpc://x:1", "http://"} {
		t.Setenv(endpointVar, endpoint)
		if err := checkEndpoint(); err == nil || strings.Contains(err.Error(), endpoint+" ") {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
}
