package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// planned is a task of a run.
type planned struct{ id, depends, desc string }

// planOf returns the tasks of a run: those in which something happens, and with -long, or when
// pictures are made, some that are only done.
func planOf() []planned {
	if *testrun.Long || *golden.Update || os.Getenv("LIZA_SHOTS") != "" {
		return runTasks
	}
	return slices.DeleteFunc(slices.Clone(runTasks), func(p planned) bool { return slices.Contains(onlyDone, p.id) })
}

// onlyDone are tasks that depend on others, and on which none depends.
var onlyDone = []string{"t06-payment", "t07-mail", "t09-profile", "t10-admin", "t11-export"}

// runTasks are the tasks of a long run, with their dependencies.
var runTasks = []planned{
	{"t01-schema", "", "Lay out the tables for products, carts and orders"},
	{"t02-catalogue", "t01-schema", "List products by category, with prices and stock"},
	{"t03-search", "t02-catalogue", "Find products by words, the best match first"},
	{"t04-cart", "t01-schema", "Keep a cart for each visitor"},
	{"t05-checkout", "t04-cart", "Turn a cart into an order, with address and payment"},
	{"t06-payment", "t05-checkout", "Charge a card by the provider that the spec names"},
	{"t07-mail", "t05-checkout", "Send a confirmation for each order"},
	{"t08-login", "t01-schema", "Let customers log in with a password"},
	{"t09-profile", "t08-login", "Show a customer their orders"},
	{"t10-admin", "t02-catalogue,t08-login", "Let staff change prices and stock"},
	{"t11-export", "t05-checkout", "Export the orders of a month as CSV"},
	{"t12-docs", "", "Describe how to install and run the shop"},
}

// newRun makes a run with four agents, with a plan that waits for approval.
func newRun(t *testing.T) *scene {
	t.Helper()
	s := newSceneIn(t, t.TempDir(), "A shop that sells furniture, from the catalogue to the order")
	s.must("", "config", "set", "require_tests", "off")
	for _, r := range planOf() {
		s.must("planner-1", "add-task", "--id", r.id, "--desc", r.desc, "--done", "go test ./"+r.id+" prints ok", "--scope", "IN: "+r.id, "--spec", "specs/vision.md", "--depends", r.depends)
		s.clock.Pass(20 * time.Second)
	}
	s.must("planner-1", "finalize", "--all")
	return s
}

// lands takes a task from its claim to its merge, in so many minutes.
func (s *scene) lands(coder, id string, minutes int) {
	s.t.Helper()
	s.submitted(coder, id, map[string]string{id + ".go": source("shop", id[4:])})
	s.judged(id, minutes)
}

// judged approves a submission and merges it, in so many minutes.
func (s *scene) judged(id string, minutes int) {
	s.t.Helper()
	s.clock.Pass(time.Duration(minutes) * time.Minute / 2)
	s.must("code-reviewer-1", "claim-review", id)
	s.clock.Pass(time.Duration(minutes) * time.Minute / 2)
	s.must("code-reviewer-1", "verdict", id, "APPROVED", "--checked", "tests", "--commit", "task/"+id)
	s.must("code-reviewer-1", "merge", id)
}

func source(pkg, name string) string {
	return fmt.Sprintf("// Package %s is a part of the shop.\npackage %s\n\nimport \"strings\"\n\n// %s adds up what was asked for; 0 for nothing.\nfunc %s(items []string) int {\n\ttotal := 0\n\treturn total + len(strings.Join(items, \", \"))\n}\n", pkg, pkg, "Of"+name, "Of"+name)
}

// TestBelow uses the board through a proxy that shows it below a path, with links, forms, events and
// cookies, whether the proxy passes the path on or removes it.
func TestBelow(t *testing.T) {
	testrun.NotShort(t)
	for _, removes := range []bool{false, true} {
		w := commonShop(t).serve(options{base: "/team/board"})
		target, _ := url.Parse(w.url)
		var handler http.Handler = &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
		}}
		if removes {
			handler = http.StripPrefix("/team/board", handler)
		}
		mux := http.NewServeMux()
		mux.Handle("/team/board/", handler)
		proxy := httptest.NewServer(mux)
		t.Cleanup(proxy.Close)
		w.url = proxy.URL + "/team/board"

		r := w.get("/?token=" + w.token)
		<-w.tokens
		if c, to := r.header.Get("Set-Cookie"), r.header.Get("Refresh"); !strings.Contains(c, "Path=/team/board;") || to != "0; url=/team/board/" {
			t.Errorf("the browser is let in with cookie %s and sent to %s", c, to)
		}
		link := regexp.MustCompile(`\b(href|src|action|formaction|data-live|data-transcript)=\\?"(/[^"\\]*)`)
		for _, path := range []string{"/", "/graph", "/timeline", "/history", "/agents", "/sprint", "/task/login", "/agent/coder-1", "/task/none"} {
			page, links := w.get(path).body, 0
			for _, m := range link.FindAllStringSubmatch(page, -1) {
				links++
				if !strings.HasPrefix(m[2], "/team/board/") || strings.HasPrefix(m[2], "/team/board/team") {
					t.Errorf("%s leads to %s", path, m[0])
				}
			}
			if links == 0 {
				t.Errorf("%s has no link", path)
			}
		}
		for _, name := range []string{"/assets/style.css", "/assets/live.js"} {
			if r := w.get(name); r.status != http.StatusOK {
				t.Errorf("%s: %d", name, r.status)
			}
		}
		s := w.follow("/", "")
		if e := s.next(t); e.name != "change" || !strings.Contains(e.data, `href=\"/team/board/task/`) || link.MatchString(strings.ReplaceAll(e.data, `"/team/board/`, `"`)) {
			t.Errorf("the page was sent %s", e.data)
		}
		form := url.Values{"text": {"Through the proxy"}, "back": {"/task/login"}}
		post := func(origin string) answer {
			r, _ := http.NewRequest(http.MethodPost, w.url+"/act/note", strings.NewReader(form.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Origin", origin)
			got, err := w.client.Do(r)
			return w.read(got, err)
		}
		if r := post(proxy.URL); r.status != http.StatusSeeOther || !strings.HasPrefix(r.header.Get("Location"), "/team/board/task/login?") {
			t.Errorf("the form was answered with %d and leads to %s\n%s", r.status, r.header.Get("Location"), r.body)
		}
		s.next(t)
		if r := post("http://evil.example"); r.status != http.StatusForbidden {
			t.Errorf("another site's form: %d", r.status)
		}
		w.client.CheckRedirect = nil
		if r := w.get("/seek?n=2&to=/graph"); r.status != http.StatusOK || !strings.Contains(r.body, "The board as it was") {
			t.Errorf("the slider: %d %s", r.status, r.body)
		}
		w.stop()
	}
}
