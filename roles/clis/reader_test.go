package clis_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/roles/clis"
)

// events returns the events in a CLI's recorded output.
func events(t *testing.T, cli, output string) []clis.Event {
	t.Helper()
	c := testrun.Must(clis.Find(cli, nil))(t)
	var all []clis.Event
	r := clis.NewReader(c, func() time.Time { return noon }, func(e clis.Event) { all = append(all, e) })
	for rest := []byte(output); len(rest) > 0; { // in pieces, as from a pipe
		n := min(len(rest), 97)
		_, _ = r.Write(rest[:n])
		rest = rest[n:]
	}
	_ = r.Close()
	return all
}

// TestRecordedRuns checks that everything that the fake model asked for is found in each CLI's
// output: the session, both commands, their results, the last text and the usage.
func TestRecordedRuns(t *testing.T) {
	for _, file := range samples(t, "goes-well") {
		cli, _, _ := strings.Cut(filepath.Base(file), "-")
		t.Run(cli, func(t *testing.T) {
			c, _ := clis.Find(cli, nil)
			var session, last string
			var kinds []clis.Kind
			var shown []string
			var used clis.Usage
			for _, e := range events(t, cli, readFile(t, file)) {
				switch e.Kind {
				case clis.Began:
					session = e.Session
				case clis.Said:
					last = e.Text
				case clis.Spent:
					used.Add(e.Usage)
				case clis.Ended:
					if e.Usage.Tokens() > 0 {
						used = e.Usage
					}
				}
				if slices.Contains([]clis.Kind{clis.Called, clis.Result}, e.Kind) {
					kinds = append(kinds, e.Kind)
				}
				shown = append(shown, e.Line())
			}
			if session == "" || last != "Done: my turn ends." {
				t.Errorf("session %q, last %q", session, last)
			}
			if want := []clis.Kind{clis.Called, clis.Result, clis.Called, clis.Result}; !slices.Equal(kinds, want) {
				t.Errorf("tools: %q", kinds)
			}
			log := strings.Join(shown, "\n")
			for _, part := range []string{"echo hello", "  hello", "git liza version; exit 3", "is not a git command"} {
				if !strings.Contains(log, part) {
					t.Errorf("the log lacks %q:\n%s", part, log)
				}
			}
			if strings.Contains(log, `{"`) {
				t.Errorf("an event is shown raw:\n%s", log)
			}
			if reports := used.Tokens() > 0; reports == c.NoUsage {
				t.Errorf("it reports usage: %t", reports)
			}
			if !c.NoUsage && (used.Input < 1000 || used.Cached == 0 || used.Cached >= used.Input || used.Output == 0) {
				t.Errorf("usage: %+v", used)
			}
		})
	}
}

// TestRecordedFailures checks that each recorded failure has the same kind for every CLI.
func TestRecordedFailures(t *testing.T) {
	for name, want := range map[string]clis.Trouble{
		"unauthorized": clis.Setup, "no-model": clis.Setup, "rate-limit": clis.Limit, "credits": clis.Limit,
		"overloaded": clis.Limit, "unavailable": clis.Limit, "internal": clis.Limit, "overflow": clis.Overflow,
	} {
		for _, file := range samples(t, name) {
			cli, _, _ := strings.Cut(filepath.Base(file), "-")
			var last *clis.Fault
			for _, e := range events(t, cli, readFile(t, file)) {
				if e.Fault != nil {
					last = e.Fault
				}
			}
			if last == nil || last.Trouble != want || last.Text == "" {
				t.Errorf("%s: %+v, want %s", filepath.Base(file), last, want)
			}
			if name == "rate-limit" && cli == "gemini" && last != nil && last.Until.Sub(noon).Round(time.Second) != 37*time.Second {
				t.Errorf("%s: until %s, want 34 s and a margin", filepath.Base(file), last.Until.Sub(noon))
			}
		}
	}
}

// TestFaultOf covers other messages of these CLIs, from their vendors' documents and users'
// reports.
func TestFaultOf(t *testing.T) {
	claude, _ := clis.Find("claude", nil)
	for message, want := range map[string]clis.Trouble{
		"API Error: Server is temporarily limiting requests":                                           clis.Limit,
		"API Error: Request rejected (429)":                                                            clis.Limit,
		"rate limit exceeded: Rate limit reached for gpt-5":                                            clis.Limit,
		"We're currently experiencing high demand":                                                     clis.Limit,
		"You're out of usage credits":                                                                  clis.Limit,
		"API Error: 500 Internal server error":                                                         clis.Limit,
		"Not logged in · Please run /login":                                                            clis.Setup,
		"Invalid API key · Fix external API key":                                                       clis.Setup,
		"Missing environment variable: `RIG_KEY`.":                                                     clis.Setup,
		"--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons": clis.Setup,
		"API Error: Unable to connect to API (ECONNREFUSED)":                                           clis.Outage,
		"stream disconnected before completion: error sending request for url (https://x/responses)":   clis.Outage,
		"exception TypeError: fetch failed sending request":                                            clis.Outage,
		"the tests fail": clis.Unknown,
	} {
		if f := claude.FaultOf(0, message, noon); f.Trouble != want {
			t.Errorf("%q is %s, want %s", message, f.Trouble, want)
		}
	}
}

// TestResetOfCredits checks that the time is read at which used-up credits come back.
func TestResetOfCredits(t *testing.T) {
	claude, _ := clis.Find("claude", nil)
	f := claude.FaultOf(0, "You're out of usage credits · resets 4:58am (UTC)", noon)
	if f.Trouble != clis.Limit || f.Until.Format("2006-01-02 15:04") != "2026-01-02 04:59" { // and a margin
		t.Errorf("%s until %s", f.Trouble, f.Until)
	}
}

// TestShellWithoutLiza checks that a shell that does not find git liza is recognized in each CLI's
// events, and that a file that mentions the message is not.
func TestShellWithoutLiza(t *testing.T) {
	for cli, output := range map[string]string{
		"claude": readFile(t, "testdata/events/claude-goes-well.txt"), "codex": readFile(t, "testdata/events/codex-goes-well.txt"),
		"gemini": `{"type":"tool_use","tool_name":"run_shell_command","parameters":{"command":"git liza version"}}` + "\n" +
			`{"type":"tool_result","output":"bash: git-liza: command not found"}`,
	} {
		var found []string
		for _, e := range events(t, cli, output) {
			if e.Fault != nil && e.Fault.Trouble == clis.Shell {
				found = append(found, e.Fault.Text)
			}
		}
		if len(found) != 1 || !strings.HasPrefix(found[0], "git liza is not found in the shell of "+cli) {
			t.Errorf("%s: %q", cli, found)
		}
	}
	const missing = "git: 'liza' is not a git command. See 'git --help'."
	for name, calls := range map[string][][2]string{
		"a file that is read":      {{"cat notes.txt", missing}},
		"a task that speaks of it": {{"git liza show login", "login is BLOCKED\n  reason\n    " + missing}},
		"another's log":            {{"git liza prime", "you are coder-1"}, {"git liza logs coder-2", missing}},
	} {
		var output string
		for _, c := range calls {
			output += fmt.Sprintf(`{"type":"item.started","item":{"type":"command_execution","command":%q}}`+"\n"+
				`{"type":"item.completed","item":{"type":"command_execution","aggregated_output":%q}}`+"\n", c[0], c[1])
		}
		for _, e := range events(t, "codex", output) {
			if e.Fault != nil {
				t.Errorf("%s: %+v", name, e.Fault)
			}
		}
	}
}

// TestUnknownOutput checks that unknown events, events of another shape and a script's own JSON are
// ignored.
func TestUnknownOutput(t *testing.T) {
	got := events(t, "claude", strings.Join([]string{
		`{"type":"system","subtype":"news","session_id":"x"}`,
		`{"type":"assistant","message":"of another shape"}`,
		`{"type":"item.completed","item":"of another shape"}`,
		`{"type":"turn.wobbled"}`,
		`{"type":"result","stats":7}`,
		`{"type":"deployment","state":"ok"}`,
		`{"cut`,
		`plain words`,
	}, "\n"))
	var plain []string
	for _, e := range got {
		if e.Kind == clis.Plain {
			plain = append(plain, e.Text)
		}
	}
	if want := []string{`{"type":"deployment","state":"ok"}`, `{"cut`, `plain words`}; !slices.Equal(plain, want) {
		t.Errorf("plain lines: %q", plain)
	}
}

func FuzzReader(f *testing.F) {
	for _, cli := range []string{"claude", "codex", "gemini"} {
		data, err := os.ReadFile(filepath.Join("testdata", "events", cli+"-goes-well.txt"))
		if err == nil {
			f.Add(string(data))
		}
	}
	f.Fuzz(func(t *testing.T, output string) {
		lines := strings.Count(output, "\n") + 1
		if got := len(events(t, "codex", output)); got < lines-1 && !strings.Contains(output, "assistant") && !strings.Contains(output, "file_change") {
			t.Errorf("%d events of %d lines", got, lines)
		}
	})
}

func samples(t *testing.T, name string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "events", "*-"+name+".txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples of %s: %v", name, err)
	}
	return files
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	return string(testrun.Must(os.ReadFile(file))(t))
}

// TestLongEvent checks that an event of many megabytes, as of a picture that was read, is not taken
// for plain output, and that the next event is read.
func TestLongEvent(t *testing.T) {
	claude, _ := clis.Find("claude", nil)
	picture := `{"type":"user","message":{"content":[{"type":"tool_result","content":"` + strings.Repeat("x", 5<<20) + `"}]}}` + "\n"
	var kinds []clis.Kind
	r := clis.NewReader(claude, func() time.Time { return noon }, func(e clis.Event) {
		if kinds = append(kinds, e.Kind); len(e.Line()) > 5<<10 {
			t.Errorf("%s is shown with %d bytes", e.Kind, len(e.Line()))
		}
	})
	for rest := []byte(picture + `{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"so"}]}}` + "\n"); len(rest) > 0; {
		n := min(len(rest), 64<<10)
		_, _ = r.Write(rest[:n])
		rest = rest[n:]
	}
	_ = r.Close()
	if want := []clis.Kind{clis.Result, clis.Said}; !slices.Equal(kinds, want) {
		t.Errorf("%q, not %q", kinds, want)
	}
}
