package otel

import (
	"strconv"
	"time"
)

// The messages of OTLP in JSON (opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding"): names
// in lowerCamelCase, identifiers in hexadecimal, 64-bit numbers as strings, enumerations as
// numbers.

type attribute struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

type value struct {
	Text   *string `json:"stringValue,omitempty"`
	Number *string `json:"intValue,omitempty"`
}

func text(key, v string) attribute { return attribute{key, value{Text: &v}} }

func number(key string, n int) attribute {
	v := strconv.Itoa(n)
	return attribute{key, value{Number: &v}}
}

type resource struct {
	Attributes []attribute `json:"attributes"`
}

type scope struct {
	Name string `json:"name"`
}

type tracesMessage struct {
	ResourceSpans []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource   resource     `json:"resource"`
	ScopeSpans []scopeSpans `json:"scopeSpans"`
}

type scopeSpans struct {
	Scope scope         `json:"scope"`
	Spans []spanMessage `json:"spans"`
}

type spanMessage struct {
	TraceID      string      `json:"traceId"`
	SpanID       string      `json:"spanId"`
	ParentSpanID string      `json:"parentSpanId,omitempty"`
	Name         string      `json:"name"`
	Kind         int         `json:"kind"`
	Start        string      `json:"startTimeUnixNano"`
	End          string      `json:"endTimeUnixNano"`
	Attributes   []attribute `json:"attributes,omitempty"`
	Status       *status     `json:"status,omitempty"`
}

type status struct {
	Message string `json:"message,omitempty"`
	Code    int    `json:"code"`
}

type metricsMessage struct {
	ResourceMetrics []resourceMetrics `json:"resourceMetrics"`
}

type resourceMetrics struct {
	Resource     resource       `json:"resource"`
	ScopeMetrics []scopeMetrics `json:"scopeMetrics"`
}

type scopeMetrics struct {
	Scope   scope    `json:"scope"`
	Metrics []metric `json:"metrics"`
}

type metric struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Unit        string `json:"unit"`
	Sum         sum    `json:"sum"`
}

type sum struct {
	Points      []point `json:"dataPoints"`
	Temporality int     `json:"aggregationTemporality"`
	Monotonic   bool    `json:"isMonotonic"`
}

type point struct {
	Attributes []attribute `json:"attributes"`
	Start      string      `json:"startTimeUnixNano"`
	Time       string      `json:"timeUnixNano"`
	Value      string      `json:"asInt"`
}

// Values of OTLP enumerations.
const (
	kindInternal = 1
	codeError    = 2
	cumulative   = 2
)

// scopeName is the name of the instrumentation scope.
const scopeName = "git-liza"

func (t *story) traces(r resource, spans []span) tracesMessage {
	all := make([]spanMessage, len(spans))
	for i, s := range spans {
		all[i] = spanMessage{
			TraceID: t.trace(), SpanID: s.id, ParentSpanID: s.parent, Name: s.name, Kind: kindInternal,
			Start: nanoseconds(s.from), End: nanoseconds(s.to), Attributes: s.attributes,
		}
		if s.failed != "" {
			all[i].Status = &status{s.failed, codeError}
		}
	}
	return tracesMessage{[]resourceSpans{{r, []scopeSpans{{scope{scopeName}, all}}}}}
}

func (t *story) metrics(r resource, began, now time.Time) metricsMessage {
	points := make([]point, len(t.tokens))
	for i, c := range t.tokens {
		points[i] = point{
			Attributes: []attribute{text("liza.role", c.role), text("gen_ai.request.model", c.model), text("liza.kind", c.kind)},
			Start:      nanoseconds(began), Time: nanoseconds(now), Value: strconv.Itoa(c.n),
		}
	}
	tokens := metric{"liza.tokens", "Tokens that the runs of agents have used.", "{token}", sum{points, cumulative, true}}
	return metricsMessage{[]resourceMetrics{{r, []scopeMetrics{{scope{scopeName}, []metric{tokens}}}}}}
}

func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
