package supervisor

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/roles/clis"
)

func witnessed(t *testing.T, cli string, prompt int, output string) *witness {
	t.Helper()
	c := testrun.Must(clis.Find(cli, nil))(t)
	w := newWitness(c, start0.Std, io.Discard)
	w.context = prompt
	_, _ = w.Write([]byte(output))
	return w
}

// TestMeterOfReports checks that a run of Claude Code is metered while it runs, because it reports
// each request, and that each report makes the supervisor look at the board.
func TestMeterOfReports(t *testing.T) {
	message := `{"type":"assistant","message":{"id":"m-ID","model":"m","content":[{"type":"text","text":"so"}],"usage":{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":5}}}` + "\n"
	w := witnessed(t, "claude", 0, strings.Replace(message, "ID", "1", 1))
	if got := w.seen(); got.used.Tokens() != 105 || got.estimated {
		t.Errorf("after one request: %+v", got.used)
	}
	select {
	case <-w.spent:
	default:
		t.Error("nobody is told")
	}
	_, _ = w.Write([]byte(strings.Replace(message, "ID", "2", 1)))
	_, _ = w.Write([]byte(`{"type":"result","is_error":true,"usage":{"input_tokens":1}}` + "\n"))
	testrun.Equal(t, w.seen().used.Tokens(), 210, "an interrupted CLI's total of 1 takes away what was reported")
}

// TestMeterByEstimate checks the estimate used for Codex, which reports usage only at its end: it
// must be close to the recorded run's report.
func TestMeterByEstimate(t *testing.T) {
	data := testrun.Must(os.ReadFile("../clis/testdata/events/codex-goes-well.txt"))(t)
	before, _, found := strings.Cut(string(data), `{"type":"turn.completed"`)
	if !found {
		t.Fatal("the recorded run has no end")
	}
	w := witnessed(t, "codex", 30, before)
	guess := w.seen()
	_, _ = w.Write(data[len(before):])
	said := w.seen()
	if !guess.estimated || said.estimated || guess.used.Requests != 3 {
		t.Errorf("estimated %t, then %t, of %d requests", guess.estimated, said.estimated, guess.used.Requests)
	}
	if g, s := guess.used.Tokens(), said.used.Tokens(); g*3 < s*2 || g*2 > s*3 {
		t.Errorf("estimated %d, and it was %d", g, s)
	}
}

// TestWhoseWords checks that a failed run is taken for a fault of the CLI's setup, or for a limit,
// only by the words of the CLI: not by those of its model or of a tool, and not after it has worked.
func TestWhoseWords(t *testing.T) {
	said := `{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"TEXT"}]}}` + "\n"
	answered := `{"type":"user","message":{"content":[{"type":"tool_result","content":"TEXT"}]}}` + "\n"
	for name, c := range map[string]struct {
		output  string
		changed bool // it has done something on the board
		setup   bool
		limited bool
	}{
		"the CLI":                      {"Not logged in · Please run /login\n", false, true, false},
		"the CLI's service":            {"API Error: 500 Internal server error\n", false, false, true},
		"the model":                    {strings.Replace(said, "TEXT", "status 404 it is, and authentication works", 1), false, false, false},
		"the model, of a service":      {strings.Replace(said, "TEXT", "it answers with status 500", 1), false, false, false},
		"the CLI, which is then ended": {`{"type":"system","subtype":"api_retry","error_status":401,"error":"authentication_failed"}` + "\n" + string(clis.Bridged(clis.Event{Kind: clis.Failed, Text: "peer disconnected"})), false, true, false},
		"a tool":                       {strings.Replace(answered, "TEXT", "error: unauthorized", 1), false, false, false},
		"the CLI, then the model":      {"model x not found in the cache\n" + strings.Replace(said, "TEXT", "so", 1), false, false, false},
		"the model, then the CLI":      {strings.Replace(said, "TEXT", "so", 1) + "API Error: 500 Internal server error\n", false, false, true},
		"a script that did its work":   {"authentication is done\n", true, false, false},
		"a script after its last word": {"error: rate limit exceeded\n", true, false, true},
	} {
		s := &supervisor{witness: witnessed(t, "claude", 0, c.output)}
		s.CLI, s.Role = s.witness.cli, coder1.Role
		o := Outcome{At: start0.Std(), Exit: 1, Changed: c.changed}
		s.printed(&o, ending{exit: 1})
		if (o.Setup != "") != c.setup || o.Limited != c.limited {
			t.Errorf("%s: setup %q, limited %t", name, o.Setup, o.Limited)
		}
	}
}

// testdata is a recorded output of a CLI.
func testdata(t *testing.T, name string) string {
	t.Helper()
	return string(testrun.Must(os.ReadFile("../clis/testdata/events/" + name))(t))
}

// TestCostOfACrash checks that a run of Codex that is killed costs what it is estimated to have
// used, since Codex reports its usage only at its end, and that one that ends well without a report
// costs nothing.
func TestCostOfACrash(t *testing.T) {
	before, _, _ := strings.Cut(testdata(t, "codex-goes-well.txt"), `{"type":"turn.completed"`)
	for exit, costs := range map[int]bool{137: true, 0: false} {
		ctx, s, _, _ := supervised(t)
		s.witness = witnessed(t, "codex", 30, before)
		s.CLI = s.witness.cli
		s.account(ctx, Step{Task: "login"}, stateOf(t, ctx, s), ending{exit: exit}, true)
		if spent := stateOf(t, ctx, s).Task("login").Usage; (len(spent) > 0) != costs {
			t.Errorf("exit %d: it has cost %+v", exit, spent)
		}
	}
}

// TestCostOfNoReport checks that a run of a CLI that reports no tokens is recorded without any, and
// that the supervisor names the CLI at the start, since no budget ends its runs.
func TestCostOfNoReport(t *testing.T) {
	ctx, s, _, _ := supervised(t)
	s.witness = witnessed(t, "vibe", 30, "I look around\n")
	s.CLI = s.witness.cli
	var said string
	s.Report = func(e Event) { said += e.Text + "\n" }
	look := func() *board.State { return stateOf(t, ctx, s) }
	s.warnOfUsage(look())
	if !strings.HasPrefix(said, "vibe reports no tokens: ") {
		t.Errorf("at the start: %q", said)
	}
	s.account(ctx, Step{Task: "login"}, look(), ending{took: time.Second}, true)
	if spent := look().Task("login").Usage; len(spent) != 1 || spent[0].Unreported != "vibe" || spent[0].Cost.Tokens() != 0 {
		t.Errorf("it has cost %+v", spent)
	}
}

// TestNoReportFromAnUnknownCLI checks that an agent by ACP counts as reporting no tokens once a run of it
// ended well without a report, and so does a command that wraps a CLI and hides its report.
func TestNoReportFromAnUnknownCLI(t *testing.T) {
	wrapped, _, _ := strings.Cut(testdata(t, "codex-goes-well.txt"), `{"type":"turn.completed"`)
	for name, c := range map[string]struct {
		cli     clis.CLI
		output  string
		exit    int
		unknown bool
	}{
		"by ACP":                  {clis.ExecACP("x"), string(clis.Bridged(clis.Event{Kind: clis.Ended})), 0, true},
		"by ACP, and it crashed":  {clis.ExecACP("x"), "", 1, false},
		"by ACP, with its report": {clis.ExecACP("x"), string(clis.Bridged(clis.Event{Kind: clis.Ended, Usage: clis.Usage{Input: 10}})), 0, false},
		"a wrapped CLI":           {clis.Exec("x"), wrapped, 0, true},
		"a script":                {clis.Exec("x"), "done\n", 0, false},
	} {
		ctx, s, _, _ := supervised(t)
		s.CLI, s.witness = c.cli, newWitness(c.cli, start0.Std)
		fmt.Fprint(s.witness, c.output)
		s.account(ctx, Step{Task: "login"}, stateOf(t, ctx, s), ending{exit: c.exit}, true)
		if got := board.Unreported(stateOf(t, ctx, s).Task("login").Usage); (got == c.cli.Name) != c.unknown {
			t.Errorf("%s: the tokens of %q are unknown", name, got)
		}
	}
}

// TestCauseBeforeHints checks that the summary of a crash names its cause, and not a hint after it.
func TestCauseBeforeHints(t *testing.T) {
	w := newWitness(clis.CLI{}, start0.Std)
	for _, step := range []struct{ line, said string }{
		{"hint: give it a file", "hint: give it a file"},
		{"cannot open the file", "cannot open the file"},
		{"hint: name another file", "cannot open the file"},
		{"Error: the socket is closed", "Error: the socket is closed"},
		{"Run with --debug for details", "Error: the socket is closed"},
		{"fatal: no room on disk", "fatal: no room on disk"},
		{"git liza: task/login has no commit", "git liza: task/login has no commit"},
		{"hint: commit your work first", "git liza: task/login has no commit"},
	} {
		_, _ = io.WriteString(w, step.line+"\n")
		testrun.Equal(t, w.said, step.said, "after %q", step.line)
	}
}

// TestRetriesAreShown checks that an agent's record names that its CLI retries once that has lasted
// for a minute, and no longer than until the model answers again.
func TestRetriesAreShown(t *testing.T) {
	ctx, s, _, clock := supervised(t)
	c := testrun.Must(clis.Find("claude", nil))(t)
	var log strings.Builder
	s.CLI, s.witness = c, newWitness(c, clock.Now, &log)
	w := &watching{supervisor: s, r: &Running{Task: "login", Began: clock.Now()}}
	print := func(line string) { _, _ = s.witness.Write([]byte(line + "\n")) }
	shows := func(what, want string) {
		t.Helper()
		w.look(ctx)
		if a := stateOf(t, ctx, s).Agent("coder-1"); a.WaitingFor != want || a.Status != board.Working {
			t.Errorf("%s: %s waits for %q", what, a.Status, a.WaitingFor)
		}
	}
	shows("at work", "")
	retry := `{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":500,"error_status":529,"error":"overloaded"}`
	print(retry)
	shows("a retry", "")
	if want := clock.Now().Add(retriesShown); !w.order.Next.Equal(want) {
		t.Errorf("it looks again at %s, not %s", w.order.Next, want)
	}
	clock.Pass(retriesShown)
	print(retry)
	v := testrun.Must(s.Board.View(ctx))(t)
	w.look(ctx)
	after := testrun.Must(s.Board.View(ctx))(t)
	if a := after.State.Agent("coder-1"); !strings.HasPrefix(a.WaitingFor, "claude retries since 03:04Z") || after.Commit == v.Commit {
		t.Errorf("after a minute it waits for %q", a.WaitingFor)
	}
	w.look(ctx)
	if again, err := s.Board.View(ctx); err != nil || again.Commit != after.Commit {
		t.Errorf("it is recorded again: %v", err)
	}
	print(`{"type":"assistant","message":{"id":"m-1","model":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"go test"}}],"usage":{"input_tokens":2000,"output_tokens":5}}}`)
	shows("it answers", "")
	testrun.Contains(t, log.String(), " $ go test  (", "the log of the call has no time or no tokens")
}

// TestForgedUsage: figures that no run can have cost, which an agent has put into its output, take
// nothing off what it has used, and leave a cost that the board records.
func TestForgedUsage(t *testing.T) {
	const real = `{"type":"assistant","message":{"id":"a","model":"m","usage":{"input_tokens":700,"output_tokens":300}}}`
	for name, forged := range map[string]string{
		"less than nothing":    `{"type":"assistant","message":{"id":"b","usage":{"input_tokens":-900,"output_tokens":-90}}}`,
		"a sum that overflows": `{"type":"assistant","message":{"id":"b","usage":{"input_tokens":9000000000000000000,"cache_read_input_tokens":9000000000000000000}}}`,
		"a negative cache":     `{"type":"result","num_turns":-3,"total_cost_usd":-7,"usage":{"input_tokens":2000,"cache_read_input_tokens":-500}}`,
		"the name of a model":  `{"type":"assistant","message":{"id":"b","model":"` + strings.Repeat("é", 150) + `","usage":{"input_tokens":2000}}}`,
		"endless money":        `{"type":"result","num_turns":9000000000000000000,"total_cost_usd":1e300,"usage":{"input_tokens":2000}}`,
	} {
		w := newWitness(clis.CLI{}, func() time.Time { return time.Unix(0, 0) })
		fmt.Fprintln(w, real)
		fmt.Fprintln(w, forged)
		used := w.seen().used
		if used.Tokens() < 1000 {
			t.Errorf("%s: a run that has used 1000 tokens counts with %d", name, used.Tokens())
		}
		cost := board.Usage{Model: modelOf(used), CLI: "custom", Cost: costOf(used, time.Minute)}
		cost.Bound(&board.State{}, "", start0)
		testrun.ErrorIs(t, cost.Check(&board.State{}, board.Operation{Actor: planner, Time: start0}), nil, "%s", name)
	}
}

// TestSaidACredential: an agent whose last line looks like a credential, which no record takes, is
// ended like any other: its task is blocked, and its hand-off and its cost are recorded.
func TestSaidACredential(t *testing.T) {
	const token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789AB"
	ctx, s, _, _ := supervised(t)
	look := func() Look {
		return Look{State: stateOf(t, ctx, s), Agent: s.actor.ID}
	}
	s.memory.Said = "the token is " + token
	s.witness = newWitness(clis.CLI{}, func() time.Time { return time.Unix(0, 0) })
	fmt.Fprintln(s.witness, `{"type":"assistant","message":{"id":"a","model":"`+token+`","usage":{"input_tokens":700,"output_tokens":300}}}`)
	s.CLI.Name = "custom"
	s.account(ctx, Step{Task: "login"}, look().State, ending{}, true)
	if used := look().State.Sprint().Tokens; used != 1000 {
		t.Errorf("the sprint has used %d tokens", used)
	}
	must(t, s.giveUpOn(ctx, look(), "login"))
	if task := look().State.Task("login"); task.Status != board.Blocked || strings.Contains(task.BlockedReason, token) {
		t.Errorf("the task is %s: %s", task.Status, task.BlockedReason)
	}
	said := s.memory.Said
	ctx, s, _, _ = supervised(t)
	if s.handOff(ctx, look().State, "login", ending{cut: board.KeyBudgetTask}, said); look().State.Handoff("login") == nil {
		t.Error("there is no hand-off")
	}
}
