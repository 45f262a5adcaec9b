package rig

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestModel checks that every wire format is handled alike: the script's next command, a text after
// the last one, and a failure with its status.
func TestModel(t *testing.T) {
	script := Script(func(r Run) []string { return []string{"first " + r.Task, "second"} })
	prompt := `ROLE: coder\nTASK ID: one\n`
	wires := map[string]struct{ path, fresh, after, call string }{
		"anthropic": {
			"/v1/messages",
			`{"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":[{"type":"text","text":"` + prompt + `"}]}]}`,
			`{"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"` + prompt + `"},{"role":"assistant","content":[]},{"role":"user","content":[{"type":"tool_result","content":"out"}]}]}`,
			`"name":"Bash"`,
		},
		"responses": {
			"/v1/responses",
			`{"tools":[{"name":"exec_command"}],"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"` + prompt + `"}]}]}`,
			`{"tools":[{"name":"exec_command"}],"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"` + prompt + `"}]},{"type":"function_call_output","output":"out"}]}`,
			`"name":"exec_command"`,
		},
		"gemini": {
			"/v1beta/models/x:streamGenerateContent",
			`{"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}],"contents":[{"role":"user","parts":[{"text":"` + prompt + `"}]}]}`,
			`{"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}],"contents":[{"role":"user","parts":[{"text":"` + prompt + `"}]},{"role":"model","parts":[]},{"role":"user","parts":[{"functionResponse":{"response":{"output":"out"}}}]}]}`,
			`"name":"run_shell_command"`,
		},
	}
	fail := false
	m, err := Serve(func(c Conversation) Reply {
		if fail {
			return Reply{Status: 529, Error: "no room"}
		}
		return script.Play(c)
	})
	testrun.Check(t, err)
	defer m.Close()
	for name, w := range wires {
		t.Run(name, func(t *testing.T) {
			for body, want := range map[string]string{w.fresh: "first one", w.after: "second", strings.Replace(w.fresh, "coder", "", 1): "Done."} {
				if status, got := post(t, m.URL+w.path, body); status != 200 || !strings.Contains(got, want) || strings.Contains(got, w.call) != (want != "Done.") {
					t.Errorf("%d %s\nwant %s", status, got, want)
				}
			}
			fail = true
			defer func() { fail = false }()
			if status, got := post(t, m.URL+w.path, w.fresh); status != 529 || !strings.Contains(got, "no room") {
				t.Errorf("%d %s", status, got)
			}
		})
	}
	if n := len(m.Requests()); n != 12 {
		t.Errorf("%d requests are recorded, not 12", n)
	}
}

// TestModelIsNoWayOut checks that a request for another host is not forwarded.
func TestModelIsNoWayOut(t *testing.T) {
	m := testrun.Must(Serve(Goal(nil, "").Play))(t)
	defer m.Close()
	request, _ := http.NewRequest(http.MethodGet, m.URL, nil)
	request.URL.Opaque = "http://example.org/" // as a client asks a proxy
	answer := testrun.Must(http.DefaultTransport.RoundTrip(request))(t)
	answer.Body.Close()
	if leaks := m.Leaks(); answer.StatusCode != http.StatusForbidden || len(leaks) != 1 {
		t.Errorf("%d, leaks %q", answer.StatusCode, leaks)
	}
}

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	answer := testrun.Must(http.Post(url, "application/json", strings.NewReader(body)))(t)
	defer answer.Body.Close()
	text := testrun.Must(io.ReadAll(answer.Body))(t)
	return answer.StatusCode, string(text)
}
