package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

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
