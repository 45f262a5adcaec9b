package web_test

import (
	"net/http"
	"strings"
	"testing"
)

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
	s := newScene(t)
	s.task("pay", "--ready")
	s.submitted("coder-1", "pay", map[string]string{"test_pay.sh": "echo ok\n"})
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
