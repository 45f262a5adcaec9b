package web_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// places are pages of the shop, with what each must show.
var places = map[string][]string{
	"/":                           {"Waits for you", "cart is BLOCKED", "Euro or Dollar?", "login", "draft-one", "coder-1", `action="/act/answer"`, "Open tasks"},
	"/?q=pay":                     {"pay"},
	"/task/login":                 {"Submission 2 of 2", "login.go", "Story", "submission 1", `Last rejection</summary><div class="text">Not yet.`, `href="/spec?ref=specs%2Fvision.md#at"`},
	"/task/login?to=1":            {"Submission 1 of 2", "rejected by code-reviewer-1", "+", "login_test.go", "test</span>"},
	"/task/login?from=1&to=2":     {`<option value="1" selected>`, "done"},
	"/task/login?to=1&view=split": {`class="code split"`},
	"/task/cart":                  {"Blocked", "Euro or Dollar?", `action="/act/answer"`, "read the vision"},
	"/graph":                      {"<svg", "ship waits for pay", "unclaimed"},
	"/graph?over=1":               {"<svg"},
	"/timeline":                   {"coder-1", "work", "Where the time went"},
	"/history":                    {"block(cart)", "init", `name="op"`, `type="range"`},
	"/history?op=block":           {"block(cart)"},
	"/history?before=4":           {"init"},
	"/agents":                     {"coder-1", "code-reviewer-1"},
	"/agent/coder-1":              {"coder-1", "Printed in this clone", "Did last", "coder-1 reads it at its next command"},
	"/sprint":                     {"sprint-1", "Where the time went", "rejected", "Retrospective"},
}

// acting matches what could run on a page: an injected tag, a handler, a script as an address.
var acting = regexp.MustCompile(`(?i)<script>|<img|<b>&|\son\w+=["']|javascript:|style="`)

func TestPages(t *testing.T) {
	w := commonShop(t).serve(options{}).enter()
	for path, texts := range places {
		t.Run(path, func(t *testing.T) {
			r := w.get(path)
			if r.status != http.StatusOK {
				t.Fatalf("%d:\n%s", r.status, r.body)
			}
			for _, text := range texts {
				if !strings.Contains(r.body, text) && !strings.Contains(html.UnescapeString(r.body), text) {
					t.Errorf("%q is missing:\n%s", text, r.body)
				}
			}
			testrun.Equal(t, acting.FindString(r.body), "", "the page holds")
			for _, wrong := range []string{"template:", "can&#39;t evaluate", "%!", "http://", "https://"} {
				if strings.Contains(r.body, wrong) {
					t.Errorf("the page holds %q", wrong)
				}
			}
		})
	}
}

// TestPast: every page of the past shows the board as it was and offers no actions.
func TestPast(t *testing.T) {
	s := commonShop(t)
	at := s.tip()
	s.must("", "pause", "--task", "pay")
	defer s.must("", "resume", "--task", "pay")
	w := s.serve(options{}).enter()
	for path := range places {
		sign := "?"
		if strings.Contains(path, "?") {
			sign = "&"
		}
		r := w.get(path + sign + "at=" + at)
		testrun.Equal(t, r.status, http.StatusOK, "%s", path)
		r.mustHold(t, "The board as it was")
		if strings.Contains(r.body, `method="post"`) || !strings.Contains(r.body, `data-live=""`) {
			t.Errorf("%s of the past has forms, or is followed", path)
		}
	}
	then, now := w.get("/task/pay?at="+at), w.get("/task/pay")
	if strings.Contains(then.body, "❚❚ paused") || !strings.Contains(now.body, "❚❚ paused") {
		t.Error("the past is not what it was")
	}
	if r := w.get("/?at=" + s.git("rev-list", "--max-parents=0", "liza/state")); !strings.Contains(r.body, "after operation 1 of") {
		t.Errorf("the first operation is not the first:\n%s", r.body)
	}
}

// TestManyTasks: with hundreds of tasks every page is shown, in any order of requests: later
// requests reuse what an earlier one has read. With -long there are a thousand.
func TestManyTasks(t *testing.T) {
	tasks := 300
	if *testrun.Long {
		tasks = 1000
	}
	s := newScene(t)
	s.task("a-task", "--ready")
	text := s.must("", "read")
	begin, end := strings.Index(text, "  - id: a-task"), strings.Index(text, "agents: {}")
	var all strings.Builder
	for i := range tasks {
		all.WriteString(strings.ReplaceAll(text[begin:end], "a-task", fmt.Sprintf("task-%04d", i)))
	}
	many := strings.ReplaceAll(text[:begin]+all.String()+text[end:], "      - a-task\n", "      - task-0001\n")
	s.dir += "-2"
	s.write("specs/vision.md", "# Vision\n")
	s.git("init", "-q", "-b", "main")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "first")
	s.write("many.yaml", many)
	s.must("", "import", "many.yaml")
	w := s.serve(options{}).enter()
	begun := time.Now()
	first := w.get("/")
	t.Logf("the first page: %s, %d bytes", time.Since(begun).Round(time.Millisecond), len(first.body))
	if first.status != http.StatusOK || len(first.body) > 300_000 {
		t.Errorf("the first page: %d, %d bytes", first.status, len(first.body))
	}
	for _, path := range []string{"/timeline", "/sprint", "/task/task-0250", "/graph", "/history", "/agents", "/?all=open"} {
		if r := w.get(path); r.status != http.StatusOK {
			t.Errorf("%s: %d\n%s", path, r.status, r.body)
		}
	}
}

// TestSeek: the slider leads to the board after the n-th operation, on every page.
func TestSeek(t *testing.T) {
	w := commonShop(t).serve(options{}).enter()
	first := w.git("rev-list", "--max-parents=0", "liza/state")
	testrun.Equal(t, w.get("/seek?n=1&to=/graph%3Fover=1").header.Get("Location"), "/graph?at="+first+"&over=1", "it leads to")
	last := w.git("rev-list", "--count", "liza/state")
	if to := w.get("/seek?n=" + last + "&to=/").header.Get("Location"); to != "/" {
		t.Errorf("the last operation leads to %s, not to the board as it is", to)
	}
}

// TestActs: the operation of every form is recorded on the board as the human of this clone.
func TestActs(t *testing.T) {
	w := newShop(t).serve(options{}).enter()
	for _, a := range []struct {
		act    string
		fields []string
		op     string
		show   string // text of the task's page then
	}{
		{"answer", []string{"id", "cart", "text", "Euro", "how", "keep-work"}, "answer", "Euro"},
		{"note", []string{"for", "pay", "text", "Mind the fees"}, "note", ""},
		{"amend", []string{"id", "pay", "was-desc", "Build pay", "desc", "Build pay with fees", "was-done", "x", "done", "x", "reason", "fees"}, "amend-task", ""},
		{"block", []string{"id", "pay", "reason", "wait for the bank"}, "block", "BLOCKED"},
		{"answer", []string{"id", "pay", "text", "", "without", "yes", "how", "afresh"}, "unblock", "UNCLAIMED"},
		{"finalize", []string{"id", "draft-one"}, "finalize", ""},
		{"pause", []string{"task", "pay", "reason", "later"}, "pause", ""},
		{"resume", []string{"task", "pay"}, "resume", ""},
		{"pause", []string{"reason", "lunch"}, "pause", ""},
		{"resume", nil, "resume", ""},
		{"checkpoint", []string{"reason", "look"}, "checkpoint", ""},
		{"resume", []string{"decision", "CONTINUE", "reason", "fine"}, "resume", ""},
		{"ack", []string{"id", "note-1"}, "ack", ""},
	} {
		r := w.post("/act/"+a.act, append(a.fields, "back", "/task/pay", "request", "r-"+a.act+w.tip()[:8])...)
		if r.status != http.StatusSeeOther || !strings.HasPrefix(r.header.Get("Location"), "/task/pay?done=") {
			t.Fatalf("%s: %d %s\n%s", a.act, r.status, r.header.Get("Location"), r.body)
		}
		testrun.Equal(t, w.git("log", "-1", "--format=%(trailers:key=Liza-Op,valueonly)%an", "liza/state"), a.op+"\nAnn", "%s: the newest operation is", a.act)
		if a.show != "" && !strings.Contains(w.must("", "show", a.fields[1]), a.show) {
			t.Errorf("%s: %s is not %s", a.act, a.fields[1], a.show)
		}
		if back := w.get(r.header.Get("Location")); !strings.Contains(back.body, `class="flash"`) {
			t.Errorf("%s: the page does not say what was done", a.act)
		}
	}
	w.must("", "verify")
}

// TestRefusal: a refusal gives the reason in the command's words, and nothing typed is lost.
func TestRefusal(t *testing.T) {
	w := commonShop(t).serve(options{}).enter()
	r := w.post("/act/answer", "id", "pay", "text", "yes", "how", "keep-work", "assessment", "a long thought")
	testrun.Equal(t, r.status, http.StatusConflict, "it is answered with")
	r.mustHold(t, "pay is UNCLAIMED", "a long thought", "Try again")
	w.post("/act/answer", "id", "cart", "text", "").mustHold(t, "Write the answer", "Try again")
}

// TestLeaseRunsOut: an expired lease makes an agent gone although nothing on the board changes, also
// for a page that was sent something else since the lease was renewed.
func TestLeaseRunsOut(t *testing.T) {
	s := newScene(t)
	s.task("login", "--ready")
	s.must("coder-1", "claim", "login")
	s.clock.Pass(3 * time.Minute)
	w := s.serve(options{every: 20 * time.Millisecond}).enter()
	if r := w.get("/"); strings.Contains(r.body, "lease expired") {
		t.Fatal("it is gone at once")
	}
	if r := w.get("/sprint"); !strings.Contains(r.body, "work <b>3m</b>") {
		t.Errorf("the work that goes on has taken no time:\n%s", r.body)
	}
	events := w.follow("/", "")
	events.next(t)
	s.write(".git/liza/logs/coder-1.log", "[liza 2026-01-31T09:00:00Z] at work\n")
	events.next(t)
	s.clock.Pass(40 * time.Minute)
	events.until(t, "lease expired")
	w.get("/agents").mustHold(t, `<code class="last">at work</code>`) // the message, not its time
}

// TestPagesOfGoals checks that a page can be of one goal: its tasks, what waits for the human, the
// links, the figures of each goal, and the live changes.
func TestPagesOfGoals(t *testing.T) {
	s := newScene(t)
	s.must("", "goal", "start", "Send invoices", "--id", "billing", "--priority", "2")
	s.task("login", "--goal", "goal-1")
	s.task("invoice", "--goal", "billing")
	s.must("", "discover", "--desc", "No VAT", "--severity", "high", "--urgency", "immediate", "--goal", "billing")
	w := s.serve(options{}).enter()
	w.get("/").mustHold(t, ">login<", ">invoice<", "No VAT", `<a href="/?goal=billing">Send invoices <span class="meta">0 of 1</span></a>`, "1 open, priority 2")
	for path, other := range map[string]string{"/?goal=billing": "login", "/graph?goal=billing": "login", "/?goal=goal-1": "invoice"} {
		r := w.get(path)
		if r.status != http.StatusOK || strings.Contains(r.body, "/task/"+other) {
			t.Errorf("%s: %d, with %s:\n%s", path, r.status, other, r.body)
		}
	}
	if r := w.get("/?goal=goal-1"); strings.Contains(r.body, "can&#39;t wait") {
		t.Error("the discovery of another goal is shown")
	}
	w.get("/?goal=billing").mustHold(t, `href="/task/invoice?goal=billing"`, `href="/graph?goal=billing"`, "can&#39;t wait")
	w.get("/?goal=billing&at="+s.tip()).mustHold(t, "/task/invoice?at=")
	if r := w.get("/?goal=biling"); r.status != http.StatusNotFound || !strings.Contains(r.body, "billing") {
		t.Errorf("an unknown goal: %d\n%s", r.status, r.body)
	}
}

// TestStages checks that tasks are shown with their stage, and with the approvals so far.
func TestStages(t *testing.T) {
	s := newScene(t)
	s.write("team.yaml", `roles:
  - {name: planner, kind: planner}
  - {name: coder, kind: coder}
  - {name: code-reviewer, kind: reviewer}
stages:
  - {name: code, role: coder}
  - {name: docs, role: coder, review: {approvals: 2}}
`)
	s.must("", "team", "set", "team.yaml")
	s.task("guide", "--stage", "docs", "--ready")
	s.task("login", "--ready")
	s.submitted("coder-1", "guide", map[string]string{"guide.md": "# Guide\n", "test_guide.sh": "true\n"})
	s.must("code-reviewer-1", "claim-review", "guide")
	s.must("code-reviewer-1", "verdict", "guide", "APPROVED", "--checked", "tests", "--commit", "task/guide")
	w := s.serve(options{}).enter()
	approvals := "1 of 2 approvals: code-reviewer-1"
	w.get("/").mustHold(t, `<span class="meta">stage docs</span>`, `<span class="meta">`+approvals, `<span class="meta">stage code</span>`)
	w.get("/task/guide").mustHold(t, "<dt>Stage</dt><dd>docs</dd>", `<span class="figure">`+approvals)
	w.get("/graph").mustHold(t, ", stage docs, "+approvals, "login: unclaimed, stage code")
	if r := newScene(t).serve(options{}).enter().get("/"); strings.Contains(r.body, "stage code") {
		t.Error("a board with the built-in team shows a stage")
	}
}
