package web_test

import (
	"fmt"
	"html"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestReviewByForms: without scripts, a submission is commented on and rejected where it is read;
// the next submission shows what became of the comments.
func TestReviewByForms(t *testing.T) {
	s := newScene(t)
	s.task("login", "--ready")
	old := "package login\n\nfunc Do() string {\n\treturn \"\"\n}\n"
	s.submitted("coder-1", "login", map[string]string{"login.go": old, "login_test.go": "package login\n"})
	w := s.serve(options{}).enter()
	page := w.get("/task/login")
	page.mustHold(t, `name="line" value="4" title="Comment on line 4"`, `value="APPROVED"`, `<template id="say">`, `name="take" value="yes"`)

	// A line's number opens a form below it.
	asked := w.get("/task/login?from=0&to=1&view=&path=login.go&line=4")
	asked.mustHold(t, `name="where" value="login.go:4"`)
	commit := s.git("rev-parse", "task/login")
	back := "/task/login?from=0&to=1#f"
	said := w.post("/act/comment", "id", "login", "commit", commit, "where", "login.go:4", "text", "An empty answer "+hostile, "back", back)
	if to := said.header.Get("Location"); said.status != http.StatusSeeOther || !strings.HasPrefix(to, "/task/login?done=") || !strings.HasSuffix(to, "#f") {
		t.Errorf("%d %s\n%s", said.status, to, said.body)
	}
	w.post("/act/comment", "id", "login", "commit", commit, "where", "login_test.go:1", "text", "It tests nothing.")
	for _, view := range []string{"", "?view=split"} {
		page = w.get("/task/login" + view)
		page.mustHold(t, `<div class="remark"><b>Ann</b>`, "It tests nothing.", "Comments on lines", "2 comments on this submission: a rejection takes them along.")
		testrun.Equal(t, acting.FindString(page.body), "", "the page holds")
	}
	if r := w.post("/act/comment", "id", "login", "commit", commit, "where", "login.go:44", "text", "too far"); r.status != http.StatusConflict || !strings.Contains(html.UnescapeString(r.body), "no line 44") || !strings.Contains(r.body, "too far") {
		t.Errorf("%d %s", r.status, r.body)
	}

	// Rejected with a summary: the review is claimed first.
	r := w.post("/act/verdict", "id", "login", "commit", commit, "take", "yes", "verdict", "REJECTED", "reason", "See the comments.", "back", "/task/login")
	if r.status != http.StatusSeeOther {
		t.Fatalf("%d %s", r.status, r.body)
	}
	s.must("coder-1", "claim", "login")
	s.worked("coder-1", "login", map[string]string{"login.go": strings.Replace(old, `""`, `"done"`, 1)})
	page = w.get("/task/login")
	page.mustHold(t, "submission 2 changed it there", "not changed up to submission 2", "See the comments.")
	page = w.get("/task/login?from=1&to=2")
	if at, gone := strings.Index(page.body, `<tr class="said">`), strings.Index(page.body, `class="del"`); at < 0 || at < gone {
		t.Errorf("the comment is not under the line that went:\n%s", page.body)
	}
	if strings.Contains(page.body, `name="line"`) {
		t.Error("a comparison of two submissions takes comments")
	}

	// A rejection without comments must name a blocker; the typed text is not lost, and the review
	// is not taken.
	commit = s.git("rev-parse", "task/login")
	r = w.post("/act/verdict", "id", "login", "commit", commit, "take", "yes", "verdict", "REJECTED", "reason", "No.", "where", "login.go:4")
	if r.status != http.StatusConflict || !strings.Contains(r.body, `name="take"`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	r.mustHold(t, "No.", "login.go:4")
	if r = w.post("/act/review", "id", "login"); r.status != http.StatusSeeOther {
		t.Errorf("%d %s", r.status, r.body)
	}
	w.get("/task/login").mustHold(t, "In review by Ann", "Give the review back")
	r = w.post("/act/verdict", "id", "login", "commit", commit, "verdict", "REJECTED", "reason", "No.", "where", "login.go:4", "issue", "a | b", "why", "no test", "suggestion", "test it", "spec", "n/a", "anomaly", "none", "prior", "RESOLVED: the answer\r\nPARTIAL: the test")
	testrun.Equal(t, r.status, http.StatusSeeOther, "%d %s", r.status, r.body)
	if text := fmt.Sprint(s.must("", "show", "login")); !strings.Contains(text, "a | b") || !strings.Contains(text, "PARTIAL: the test") {
		t.Error(text)
	}
	s.must("", "verify")
}

// TestCompareSubmissions: a comparison of two submissions leaves out what a merge of integration
// brought, and works in both directions.
func TestCompareSubmissions(t *testing.T) {
	s := newScene(t)
	s.must("", "config", "set", "require_tests", "off")
	s.task("login", "--ready")
	s.submitted("coder-1", "login", map[string]string{"login.go": "one\n"})
	s.must("coder-1", "withdraw", "login")
	s.write("other.txt", "another task's\n")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "Another task's work")
	s.must("", "land", "main")
	s.gitAs("coder-1", "-C", ".worktrees/login", "merge", "-q", "-m", "Bring integration in", "integration")
	s.worked("coder-1", "login", map[string]string{"login.go": "two\n"})
	w := s.serve(options{}).enter()
	for query, want := range map[string]string{"?from=1&to=2": ">two<", "?from=2&to=1": ">one<"} {
		page := w.get("/task/login" + query)
		page.mustHold(t, want, "login.go", "are left out")
		if strings.Contains(page.body, "other.txt") {
			t.Errorf("%s shows the work of another task", query)
		}
	}
}

// TestDiscoveryAndGoneAgent: an urgent discovery and an agent that is gone are settled in the
// browser. Without a supervisor the agent has no run that a form could end.
func TestDiscoveryAndGoneAgent(t *testing.T) {
	s := newScene(t)
	s.task("login", "--ready")
	s.must("coder-1", "claim", "login")
	s.must("coder-1", "discover", "--during", "login", "--desc", "passwords lie in the log", "--severity", "critical", "--urgency", "immediate")
	s.clock.Pass(time.Hour)
	w := s.serve(options{}).enter()
	w.get("/").mustHold(t, "passwords lie in the log", `action="/act/settle"`, "coder-1 is silent", `action="/act/recover-agent"`)
	r := w.post("/act/run", "for", "coder-1", "how", "end", "back", "/agent/coder-1")
	if said := html.UnescapeString(r.body); r.status != http.StatusConflict || !strings.Contains(said, `no supervisor runs "coder-1"`) {
		t.Errorf("%d: %s", r.status, said)
	}
	for _, r := range []answer{w.post("/act/settle", "id", "disc-1", "how", "defer", "reason", "after the release"), w.post("/act/recover-agent", "request", "web-1", "id", "coder-1")} {
		testrun.Equal(t, r.status, http.StatusSeeOther, "%d %s", r.status, r.body)
	}
	if page := w.get("/"); strings.Contains(page.body, `action="/act/settle"`) || strings.Contains(page.body, "coder-1 is silent") {
		t.Error("they still wait")
	}
	s.must("", "verify")
}
