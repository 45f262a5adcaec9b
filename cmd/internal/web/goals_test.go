package web_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

var (
	completeForm = regexp.MustCompile(`action="/act/goal-complete".*?name="goal" value="([^"]*)"`)
	inboxKey     = regexp.MustCompile(`data-key="([a-z_]+ [^"]*)"`)
)

// TestGoalsAreCompleted: of several goals that are over each has its own form, and each thing that
// waits its own row, or a page that is kept up to date would show one of them.
func TestGoalsAreCompleted(t *testing.T) {
	s := newScene(t)
	s.task("chair")
	for _, goal := range []string{"tables", "lamps"} {
		s.must("", "goal", "start", "Sell "+goal, "--spec", "specs/vision.md", "--id", goal)
		s.task("a-"+goal, "--goal", goal)
		s.must("", "abandon", "a-"+goal, "--reason", "nobody wants it")
	}
	s.task("open", "--goal", "goal-1", "--ready")
	s.submitted("coder-1", "open", map[string]string{"test_open.sh": "echo ok\n"})
	s.task("more", "--goal", "goal-1", "--ready")
	s.must("coder-1", "deregister")
	w := s.serve(options{}).enter()
	page := w.get("/").body
	keys := map[string]bool{}
	for _, m := range inboxKey.FindAllStringSubmatch(page, -1) {
		if keys[m[1]] {
			t.Errorf("two rows are called %q", m[1])
		}
		keys[m[1]] = true
	}
	forms := completeForm.FindAllStringSubmatch(page, -1)
	if len(forms) != 2 {
		t.Fatalf("%d goals can be completed", len(forms))
	}
	for _, m := range forms {
		if r := w.post("/act/goal-complete", "goal", m[1]); r.status != http.StatusSeeOther {
			t.Errorf("%s: %d %s", m[1], r.status, r.body)
		}
	}
	if out := s.must("", "goal", "list"); strings.Count(out, "COMPLETED") != 2 {
		t.Errorf("the goals are\n%s", out)
	}
}

// TestGoalsPullRequest: the only goal has a row once a pull request offers its work.
func TestGoalsPullRequest(t *testing.T) {
	s := newScene(t)
	w := s.serve(options{}).enter()
	if page := w.get("/").body; strings.Contains(page, "pull request") {
		t.Error("a goal without a pull request shows one")
	}
	events := w.follow("/", "")
	b := testrun.Must(gitboard.Open(t.Context(), s.dir, gitboard.Options{Now: s.clock.Now, Writes: true}))(t)
	defer b.Close()
	head := s.git("rev-parse", "integration")
	if _, err := b.Do(t.Context(), gitboard.Request{Actor: board.HumanActor("Ann", "ann@example.org")}, gitboard.Just(&board.PROpen{
		Goal: "goal-1", Kind: "gitea", Host: "git.example.org", Repo: "ada/shop", Number: 7, Base: "main", Branch: "goal/goal-1", Head: head, Draft: true})); err != nil {
		t.Fatal(err)
	}
	events.until(t, ", pull request ada/shop#7, draft")
}

// TestPlanCard: the card of a plan shows what a human judges it by, opens the section of the spec,
// and sends drafts back with a reason.
func TestPlanCard(t *testing.T) {
	s := newScene(t)
	s.write("specs/shop.md", "# Shop\n\n## Paying by card\n\nCards are charged at once.\n")
	s.git("add", "specs/shop.md")
	s.git("commit", "-q", "-m", "The shop")
	s.must("", "land", "--spec", "specs/shop.md")
	s.must("", "add-task", "--id", "pay", "--desc", "Charge cards. Then more.", "--done", "a card is charged", "--scope", "IN: pay/", "--spec", "specs/shop.md#paying-by-card")
	s.must("", "add-task", "--id", "mail", "--desc", "Mail receipts", "--done", "a mail is sent", "--scope", "IN: mail/", "--spec", "specs/shop.md", "--depends", "pay")
	w := s.serve(options{}).enter()
	w.get("/").mustHold(t, "2 drafts: review the plan", "scope: IN: pay/", "code, priority 3", `href="/spec?ref=specs%2Fshop.md%23paying-by-card#at"`, "after pay", `formaction="/act/send-back"`, "Charge cards")
	s.serve(options{readOnly: true}).enter().get("/").mustHold(t, `href="/spec?ref=specs%2Fshop.md%23paying-by-card#at"`)
	section := w.get("/spec?ref=specs/shop.md%23paying-by-card")
	section.mustHold(t, `<pre class="section at" id="at">## Paying by card`)
	if r := w.get("/spec?ref=../../etc/passwd"); r.status != http.StatusNotFound {
		t.Errorf("another file: %d", r.status)
	}
	w.post("/act/send-back", "id", "pay").mustHold(t, "Say what should change")
	w.post("/act/send-back", "reason", "cut it").mustHold(t, "Mark at least one draft")
	graph := w.get("/graph?chain=1")
	graph.mustHold(t, "All unfinished tasks", "Charge cards")
	w.get("/graph").mustHold(t, `>2 tasks to go</a>`)
	s.must("", "verify")
}

// TestHeaderAfterTheEnd: a finished goal no longer runs, and its code has a green card with the
// command.
func TestHeaderAfterTheEnd(t *testing.T) {
	s := newWork(t)
	s.must("code-reviewer-1", "claim-review", "pay")
	s.must("code-reviewer-1", "verdict", "pay", "APPROVED", "--checked", "tests", "--commit", s.git("rev-parse", "task/pay"))
	s.must("code-reviewer-1", "merge", "pay")
	s.must("", "goal", "complete")
	s.write("hotfix", "a hotfix\n")
	s.git("add", "hotfix")
	s.git("commit", "-q", "-m", "A hotfix")
	page := s.serve(options{}).enter().get("/")
	page.mustHold(t, "✔ completed", `class="item ahead"`, "git merge integration", "integration is 1 commit behind main: <code>git liza land --merge main</code>")
	if strings.Contains(page.body, "▶ running") {
		t.Error("a finished goal runs")
	}
}

// TestLostClone: what a coder of another clone holds that is gone is given back by its own form,
// since recovering an agent is refused where its worktree is not.
func TestLostClone(t *testing.T) {
	s := newScene(t)
	s.task("chair", "--ready")
	s.must("coder-1", "claim", "chair")
	testrun.Check(t, os.WriteFile(filepath.Join(s.dir, ".git", "liza", "clone"), []byte("0123456789abcdef\n"), 0o644))
	s.clock.Pass(time.Hour)
	w := s.serve(options{}).enter()
	page := w.get("/")
	page.mustHold(t, "coder-1 is silent, with chair in hand, in another clone", `action="/act/give-up"`)
	if strings.Contains(page.body, "recover-agent") {
		t.Error("the page offers what is refused")
	}
	if r := w.post("/act/give-up", "id", "chair", "reason", "the laptop is lost"); r.status != http.StatusSeeOther {
		t.Errorf("%d %s", r.status, r.body)
	}
	if out := s.must("", "show", "chair"); !strings.Contains(out, "UNCLAIMED") || !strings.Contains(out, "the laptop is lost") {
		t.Error(out)
	}
}

// TestReport: a report is one self-contained file without scripts, in which every link leads to a
// place in the file.
func TestReport(t *testing.T) {
	s := commonShop(t)
	file := filepath.Join(t.TempDir(), "run.html")
	s.must("", "report", file)
	data := testrun.Must(os.ReadFile(file))(t)
	text := string(data)
	for _, want := range []string{"cart is BLOCKED", "login.go", "Where the time went", "<svg", "Story", "block(cart)", "default-src &#39;none&#39;"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	testrun.Equal(t, regexp.MustCompile(`(?i)<script|<form|<link|<img|https?://|url\(|@import|\son\w+=["']`).FindString(text), "", "it holds")
	places := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if places[m[1]] {
			t.Errorf("two places are called %s", m[1])
		}
		places[m[1]] = true
	}
	links := regexp.MustCompile(` href="([^"]*)"`).FindAllStringSubmatch(text, -1)
	for _, m := range links {
		if !strings.HasPrefix(m[1], "#") || !places[m[1][1:]] {
			t.Errorf("a link leads to %s", m[1])
		}
	}
	if len(links) < 20 {
		t.Errorf("%d links", len(links))
	}
	before := s.git("rev-parse", "liza/state~5")
	s.must("", "report", file, "--at", before)
	if then, _ := os.ReadFile(file); !strings.Contains(string(then), before[:10]) {
		t.Error("a report of an earlier commit is not of that commit")
	}
}
