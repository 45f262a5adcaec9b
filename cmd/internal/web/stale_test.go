package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

var seenField = regexp.MustCompile(`name="seen" value="([^"]*)"`)

// seen are the fields by which a page's forms say what they showed.
func (a answer) seen() (fields []string) {
	for _, m := range seenField.FindAllStringSubmatch(a.body, -1) {
		fields = append(fields, "seen", m[1])
	}
	return fields
}

// TestStaleForms: a form decides on the state that its page showed. If the task has changed since, it is
// refused, and nothing that was typed is lost. The form that resumes after a pause does not decide a
// checkpoint.
func TestStaleForms(t *testing.T) {
	s := newScene(t)
	w := s.serve(options{}).enter()
	s.task("pay")
	inbox, page := w.get("/"), w.get("/task/pay")
	s.must("", "amend-task", "pay", "--done", "'pay' sends all that there is to coder-1")
	for name, shown := range map[string]answer{"inbox": inbox, "task": page} {
		before := s.tip()
		r := w.post("/act/finalize", append(shown.seen(), "id", "pay")...)
		if r.status != http.StatusConflict || s.tip() != before {
			t.Errorf("%s: a draft that was changed after the page was made is approved: %d", name, r.status)
		}
		r.mustHold(t, "pay has changed since you saw it")
	}
	amend := []string{"id", "pay", "was-scope", "IN: pay", "scope", "IN: pay and cart"}
	if r := w.post("/act/amend", append(page.seen(), amend...)...); r.status != http.StatusConflict {
		t.Errorf("an amendment of a changed task: %d", r.status)
	}
	if r := w.post("/act/finalize", append(w.get("/").seen(), "id", "pay")...); r.status != http.StatusSeeOther {
		t.Errorf("a draft as it is: %d\n%s", r.status, r.body)
	}

	ask := func(question string) { s.must("", "block", "pay", "--reason", "unclear", "--question", question) }
	ask("Euro or Dollar?")
	inbox, page = w.get("/"), w.get("/task/pay")
	s.must("", "answer", "pay", "Euro")
	ask("May the tests go?")
	for name, shown := range map[string]answer{"inbox": inbox, "task": page} {
		for _, how := range []string{"keep-work", "afresh"} {
			r := w.post("/act/answer", append(shown.seen(), "id", "pay", "text", "Yes, both", "how", how)...)
			if r.status != http.StatusConflict || !strings.Contains(r.body, "Yes, both") {
				t.Errorf("%s, %s: the answer to another question: %d", name, how, r.status)
			}
		}
	}
	for _, act := range []string{"abandon", "supersede"} {
		if r := w.post("/act/"+act, append(page.seen(), "id", "pay", "by", "cart", "reason", "The root cause is known.")...); r.status != http.StatusConflict {
			t.Errorf("%s: %d", act, r.status)
		}
	}
	if r := w.post("/act/answer", append(w.get("/task/pay").seen(), "id", "pay", "text", "No", "how", "keep-work")...); r.status != http.StatusSeeOther {
		t.Errorf("the answer to this question: %d\n%s", r.status, r.body)
	}

	s.must("", "pause", "--reason", "lunch")
	page = w.get("/")
	s.must("", "checkpoint", "--reason", "is the schema right?")
	if r := w.post("/act/resume", page.seen()...); r.status != http.StatusConflict {
		t.Errorf("a checkpoint is resumed by a page of a pause: %d", r.status)
	}
	if r := w.post("/act/resume", append(w.get("/").seen(), "decision", "CONTINUE")...); r.status != http.StatusSeeOther {
		t.Errorf("the halt on the page is not resumed: %d\n%s", r.status, r.body)
	}
}

// TestVerdictIsOnWhatIsShown: a page of an older submission has no form for a verdict on the newest
// one, which it does not show.
func TestVerdictIsOnWhatIsShown(t *testing.T) {
	w := commonShop(t).serve(options{}).enter() // login was submitted twice
	for path, judged := range map[string]bool{
		"/task/login": true, "/task/login?to=2": true, "/task/login?from=1&to=2": true, "/task/login?to=1": false, "/task/login?from=2&to=1": false,
	} {
		r := w.get(path)
		testrun.Equal(t, strings.Contains(r.body, `action="/act/verdict"`), judged, "%s has a form for the verdict", path)
		if !judged {
			r.mustHold(t, `href="/task/login#p-diff"`)
		}
	}
}

// TestSameRequestOtherText: a form that is sent twice acts once; another text under the same
// request is another act, and is not lost.
func TestSameRequestOtherText(t *testing.T) {
	s := newScene(t)
	w := s.serve(options{}).enter()
	for _, text := range []string{"the first", "the first", "the second"} {
		if r := w.post("/act/note", "request", "web-1", "text", text); r.status != http.StatusSeeOther {
			t.Fatalf("%d %s", r.status, r.body)
		}
	}
	notes := s.must("", "read", "human_notes")
	if strings.Count(notes, "the first") != 1 || strings.Count(notes, "the second") != 1 {
		t.Errorf("the notes are\n%s", notes)
	}
}

// TestNothingHalfDone: of several operations the board refuses the second, so none is done. The form
// is shown again with its text.
func TestNothingHalfDone(t *testing.T) {
	s := newWork(t)
	w := s.serve(options{}).enter()
	r := w.post("/act/reply", "for", "", "text", "It asks for both", "id", "anomaly-7")
	r.mustHold(t, "Not done", "anomaly-7", "It asks for both")
	tip, commit := s.tip(), s.git("rev-parse", "task/pay")
	for _, f := range []struct{ say, fields string }{
		{"Comment on a line first, or describe a blocker", "reason=no"},
		{"still lacks: where, as file:line, suggestion, spec, its logged anomaly", "reason=no&issue=wrong&why=it+fails"},
		{"Write your assessment", "issue=wrong"},
		{"Write your assessment", "commented=1"},
		{"is a file and a line", "reason=no&issue=wrong&why=it+fails&where=somewhere&suggestion=none&spec=n/a&anomaly=none"},
	} {
		fields := []string{"id", "pay", "take", "yes", "verdict", "REJECTED", "commented", "no", "commit", commit}
		for name, values := range testrun.Must(url.ParseQuery(f.fields))(t) {
			fields = append(fields, name, values[0])
		}
		r := w.post("/act/verdict", fields...)
		r.mustHold(t, "Not done", f.say)
		if labels := regexp.MustCompile(`<label>([a-z]+)<`).FindStringSubmatch(r.body); labels != nil || strings.Contains(r.body, "<p class=\"refused\" role=\"alert\">--") {
			t.Errorf("a field is shown by its name %v", labels)
		}
	}
	testrun.Equal(t, s.tip(), tip, "a refused verdict took the review")
	if notes := s.must("", "read", "human_notes"); strings.Contains(notes, "It asks for both") {
		t.Errorf("the note was left: %s", notes)
	}
}

// TestHiddenCharacters: no character of an agent's text that hides or reorders others reaches a
// page, in lists of files neither.
func TestHiddenCharacters(t *testing.T) {
	s := newScene(t)
	s.task("pay", "--ready")
	s.must("coder-1", "claim", "pay")
	const hides = "x\u202egpj.sh"
	s.must("coder-1", "pre-exec", "pay", "--intent", hides, "--validation", "ok "+hides, "--file", hides, "--assumption", hides)
	s.write(".worktrees/pay/"+hides, "echo "+hides+"\n")
	s.write(".worktrees/pay/test_"+hides, "echo "+hides+"\n")
	s.git("-C", ".worktrees/pay", "add", "-A")
	s.gitAs("coder-1", "-C", ".worktrees/pay", "commit", "-q", "-m", "Work")
	s.must("coder-1", "submit", "pay")
	w := s.serve(options{}).enter()
	for _, path := range []string{"/", "/task/pay", "/task/pay?view=split", "/history", "/timeline", "/graph"} {
		parts := strings.Split(w.get(path).body, "\u202e")
		for i, part := range parts[1:] {
			if !regexp.MustCompile(` value="[^"<>]*$`).MatchString(parts[i]) { // that of a form's field is exact
				t.Errorf("%s shows it before %.80q", path, part)
			}
		}
	}
}
