//go:build linux

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// plays is an agent that takes a goal of one task to its end and reports its token use as Claude
// Code does.
const plays = `field() { sed -n "s/^$1: //p" "$LIZA_PROMPT_FILE" | head -n 1; }
case $(field ROLE) in
planner)
  if [ "$(field 'WAKE TRIGGER')" = INITIAL_PLANNING ]; then
    git liza add-task --id alpha --desc 'Write alpha' --spec specs/vision.md --done 'alpha.txt is there' --scope 'IN: alpha.txt' && git liza finalize alpha
  fi ;;
coder)` + submits + `;;
code_reviewer) git liza verdict alpha APPROVED --commit "$(field 'REVIEW COMMIT')" ;;
esac
echo '{"type":"assistant","message":{"id":"m-1","model":"m","content":[{"type":"text","text":"done"}],"usage":{"input_tokens":90,"cache_read_input_tokens":800,"output_tokens":10}}}'
`

// TestTelemetry: a team exports its goal to the collector named by the environment, as one trace in
// which every operation leads up to the goal, and the tokens of the three roles as metrics. Without
// the variable nothing is sent.
func TestTelemetry(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	var mu sync.Mutex
	spans, parents, traces, metrics := map[string]string{}, map[string]string{}, map[string]bool{}, ""
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/v1/metrics" {
			metrics = string(body)
			return
		}
		var got struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Spans []struct{ TraceID, SpanID, ParentSpanID, Name string }
				}
			}
		}
		if err := json.Unmarshal(body, &got); err != nil || !strings.Contains(string(body), `{"key":"service.name","value":{"stringValue":"furniture"}}`) {
			t.Errorf("%v: %s", err, body)
			return
		}
		for _, s := range got.ResourceSpans[0].ScopeSpans[0].Spans {
			spans[s.SpanID], parents[s.SpanID], traces[s.TraceID] = s.Name, s.ParentSpanID, true
		}
	}))
	defer collector.Close()
	p.env = append(p.env, "OTEL_SERVICE_NAME=furniture")
	p.supervise("agent", "planner", "--once", "--exec=true").ends(0)
	if len(spans) > 0 {
		t.Errorf("without an endpoint %v was sent", spans)
	}
	p.env = append(p.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)
	p.supervise("team", "--coders=1", "--exec="+plays).ends(0)
	mu.Lock()
	defer mu.Unlock()
	way := map[string]string{} // span ids by the path of names from a span up to the goal
	for id, name := range spans {
		for up := parents[id]; up != ""; up = parents[up] {
			name += " < " + spans[up]
		}
		way[name] = id
	}
	for _, want := range []string{
		"goal", "task < goal", "run < task < goal", "run < goal", "claim < task < goal", "pre-exec < run < task < goal", "submit < run < task < goal",
		"verdict < run < task < goal", "merge < task < goal", "add-task < run < goal", "goal-complete < goal",
	} {
		if way[want] == "" {
			t.Errorf("nothing is %s: %v", want, way)
		}
	}
	if len(traces) != 1 {
		t.Errorf("%d traces", len(traces))
	}
	for _, role := range []string{"planner", "coder", "code_reviewer"} {
		if !strings.Contains(metrics, `{"key":"liza.role","value":{"stringValue":"`+role+`"}}`) {
			t.Errorf("no tokens of the %s: %s", role, metrics)
		}
	}
	p.proven()
}
