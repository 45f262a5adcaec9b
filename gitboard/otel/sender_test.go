package otel

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// warnings collects what was said.
type warnings struct {
	mu   sync.Mutex
	said []string
}

func (w *warnings) warn(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, text)
}

func (w *warnings) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.said...)
}

type posted struct {
	path   string
	header http.Header
	body   []byte
}

// collector answers with a status, and passes on what it gets.
func collector(t *testing.T, status int) (*httptest.Server, chan posted) {
	got := make(chan posted, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- posted{r.URL.Path, r.Header, body}
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return server, got
}

var (
	traceForm = regexp.MustCompile(`^[0-9a-f]{32}$`)
	spanForm  = regexp.MustCompile(`^[0-9a-f]{16}$`)
)

// What is posted is what opentelemetry-proto says of its JSON form.
func TestPayloads(t *testing.T) {
	server, got := collector(t, 200)
	s, err := newSender(server.URL+"/base/", "api-key=a%20b, other = c,bad", func(text string) { t.Error(text) })
	if err != nil {
		t.Fatal(err)
	}
	story := lived(t)
	to := resource{[]attribute{text("service.name", "team")}}
	s.send("/v1/traces", story.story.traces(to, story.spans))
	s.send("/v1/metrics", story.story.metrics(to, time.Unix(5, 0), time.Unix(6, 7)))
	traces, metrics := <-got, <-got // before the end, which waits only briefly
	s.close()
	if traces.path != "/base/v1/traces" || metrics.path != "/base/v1/metrics" || traces.header.Get("Content-Type") != "application/json" ||
		traces.header.Get("api-key") != "a b" || traces.header.Get("other") != "c" {
		t.Errorf("%s and %s with %v", traces.path, metrics.path, traces.header)
	}
	var tr struct {
		ResourceSpans []struct {
			Resource   struct{ Attributes []keyValue }
			ScopeSpans []struct {
				Scope struct{ Name, Version string }
				Spans []struct {
					TraceId, SpanId, ParentSpanId, Name string
					Kind                                int
					StartTimeUnixNano, EndTimeUnixNano  string
					Attributes                          []keyValue
					Status                              struct {
						Code    int
						Message string
					}
				}
			}
		}
	}
	strictly(t, traces.body, &tr)
	spans := tr.ResourceSpans[0].ScopeSpans[0].Spans
	if tr.ResourceSpans[0].Resource.Attributes[0] != (keyValue{Key: "service.name", Value: anyValue{StringValue: "team"}}) || len(spans) != len(story.spans) {
		t.Errorf("%s", traces.body)
	}
	for _, sp := range spans {
		from, err1 := strconv.ParseInt(sp.StartTimeUnixNano, 10, 64)
		to, err2 := strconv.ParseInt(sp.EndTimeUnixNano, 10, 64)
		if !traceForm.MatchString(sp.TraceId) || !spanForm.MatchString(sp.SpanId) || (sp.Name == "goal") != (sp.ParentSpanId == "") ||
			sp.Name != "goal" && !spanForm.MatchString(sp.ParentSpanId) || sp.Kind != 1 || err1 != nil || err2 != nil || from > to || from < 1e18 {
			t.Errorf("%+v", sp)
		}
	}
	var me struct {
		ResourceMetrics []struct {
			Resource     struct{ Attributes []keyValue }
			ScopeMetrics []struct {
				Scope   struct{ Name string }
				Metrics []struct {
					Name, Description, Unit string
					Sum                     struct {
						DataPoints []struct {
							Attributes                      []keyValue
							StartTimeUnixNano, TimeUnixNano string
							AsInt                           string
						}
						AggregationTemporality int
						IsMonotonic            bool
					}
				}
			}
		}
	}
	strictly(t, metrics.body, &me)
	m := me.ResourceMetrics[0].ScopeMetrics[0].Metrics[0]
	if m.Name != "liza.tokens" || m.Sum.AggregationTemporality != 2 || !m.Sum.IsMonotonic || len(m.Sum.DataPoints) != 3 {
		t.Errorf("%+v", m)
	}
	if p := m.Sum.DataPoints[1]; p.AsInt != "600" || p.StartTimeUnixNano != "5000000000" || p.TimeUnixNano != "6000000007" || p.Attributes[2].Value.StringValue != "cached" {
		t.Errorf("%+v", p)
	}
}

type keyValue struct {
	Key   string
	Value anyValue
}

type anyValue struct{ StringValue, IntValue string }

// strictly decodes what has no other fields, in their very spelling.
func strictly(t *testing.T, body []byte, to any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	for _, name := range regexp.MustCompile(`"([A-Za-z]+)":`).FindAllSubmatch(body, -1) {
		if first := name[1][0]; first < 'a' || first > 'z' {
			t.Errorf("%s is not lowerCamelCase", name[1])
		}
	}
}

// A collector that hangs, refuses or answers with an error delays nobody: what it does not take is
// dropped, and said once.
func TestDeadCollectors(t *testing.T) {
	testrun.NotShort(t)
	hangs := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hangs:
		case <-r.Context().Done():
		}
	}))
	defer hanging.Close()
	defer close(hangs)
	failing, _ := collector(t, 503)
	moved := httptest.NewServer(http.RedirectHandler(failing.URL, http.StatusTemporaryRedirect))
	defer moved.Close()
	refusing := "http://127.0.0.1:" + testrun.FreePort(t)
	for name, endpoint := range map[string]string{"hangs": hanging.URL, "refuses": refusing, "fails": failing.URL, "is elsewhere": moved.URL} {
		t.Run(name, func(t *testing.T) {
			var w warnings
			s, err := newSender(endpoint, "api-key=secret", w.warn)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			for range 10 * mostQueued {
				s.send("/v1/traces", tracesMessage{})
			}
			if took := time.Since(began); took > patience {
				t.Errorf("whoever sends waits %s", took)
			}
			s.close()
			if took := time.Since(began); took > partingTime+time.Minute {
				t.Errorf("the end waits %s", took)
			}
			if said := w.all(); len(said) != 1 || strings.Contains(said[0], "secret") {
				t.Errorf("%q", said)
			}
		})
	}
}

// What is no address is refused, and not repeated: it may hold a password.
func TestAddresses(t *testing.T) {
	for _, endpoint := range []string{"localhost:4318", "grpc://x:1", "http://", "\x00"} {
		if _, err := newSender(endpoint, "", nil); err == nil || strings.Contains(err.Error(), "4318 ") {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
}
