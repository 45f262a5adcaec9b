package web_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
