package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
)

// act turns a form into command lines. Values follow "--name=" and ids follow "--", so that they
// can't become flags.
type act struct {
	say  string // its effect, for the page that explains a refusal
	args func(f form) [][]string
}

// form is a browser's form data.
type form struct{ url.Values }

func (f form) text(name string) string {
	return strings.TrimSpace(strings.ReplaceAll(f.Get(name), "\r\n", "\n"))
}

// flags returns flags for those of the named fields that are filled in.
func (f form) flags(names ...string) []string {
	var all []string
	for _, name := range names {
		for _, v := range f.Values[name] {
			if v = strings.TrimSpace(strings.ReplaceAll(v, "\r\n", "\n")); v != "" {
				all = append(all, "--"+name+"="+v)
			}
		}
	}
	return all
}

// changed returns flags for the fields whose value differs from the form's.
func (f form) changed(names ...string) []string {
	var all []string
	for _, name := range names {
		if f.text(name) != f.text("was-"+name) {
			all = append(all, f.flags(name)...)
		}
	}
	return all
}

// after returns a field as an argument after "--", if it is filled in.
func (f form) after(name string) []string {
	if text := f.text(name); text != "" {
		return []string{"--", text}
	}
	return nil
}

// one is a command line with flags, followed by arguments.
func one(command string, flags []string, args ...string) [][]string {
	line := append([]string{command}, flags...)
	if len(args) > 0 {
		line = append(append(line, "--"), args...)
	}
	return [][]string{line}
}

// commandWords is the number of words in the command of a line.
func commandWords(line []string) int {
	if line[0] == "goal" {
		return 2
	}
	return 1
}

var acts = map[string]act{
	// A blocked task whose questions are answered continues with the answer; without an
	// answer it is unblocked.
	"answer": {"answer", func(f form) [][]string {
		how := f.flags("seen")
		if f.text("how") == "afresh" {
			how = append(how, "--afresh")
		}
		if text := f.text("text"); text != "" {
			return one("answer", how, f.text("id"), text)
		}
		return one("unblock", append(how, f.flags("assessment")...), f.text("id"))
	}},
	"reply": {"say what the protocol asks for", func(f form) [][]string {
		return append(one("note", f.flags("for"), f.text("text")), one("ack", nil, f.text("id"))...)
	}},
	"note":  {"leave a note", func(f form) [][]string { return one("note", f.flags("for"), f.text("text")) }},
	"ack":   {"acknowledge", func(f form) [][]string { return one("ack", nil, f.text("id")) }},
	"block": {"block a task", func(f form) [][]string { return one("block", f.flags("reason", "question"), f.text("id")) }},
	"comment": {"comment on a line", func(f form) [][]string {
		return one("comment", f.flags("commit"), f.text("id"), f.text("where"), f.text("text"))
	}},
	"review": {"take a review", func(f form) [][]string { return one("claim-review", nil, f.text("id")) }},
	"give-back": {"give a review back", func(f form) [][]string {
		return one("release", append([]string{"--role=reviewer", "--force"}, f.flags("reason")...), f.text("id"))
	}},
	"give-up": {"give back what is in a lost clone", func(f form) [][]string {
		return one("release", append([]string{"--role=coder"}, f.flags("reason")...), f.text("id"))
	}},
	"verdict": {"give a verdict", verdictOf},
	"abandon": {"abandon a task", func(f form) [][]string { return one("abandon", f.flags("seen", "reason"), f.text("id")) }},
	"supersede": {"replace a task by others", func(f form) [][]string {
		return one("supersede", f.flags("seen", "by", "reason"), f.text("id"))
	}},
	"reassign": {"give a task to another coder", func(f form) [][]string { return one("reassign", f.flags("seen", "reason"), f.text("id")) }},
	"amend": {"change a task", func(f form) [][]string {
		return one("amend-task", append(f.changed("desc", "done", "scope", "spec", "depends", "priority"), f.flags("seen", "reason")...), f.text("id"))
	}},
	"finalize": {"approve drafts", func(f form) [][]string { return one("finalize", f.flags("seen"), f.Values["id"]...) }},
	"pause":    {"pause", func(f form) [][]string { return one("pause", f.flags("task", "reason")) }},
	"resume": {"resume", func(f form) [][]string {
		return one("resume", f.flags("seen", "task", "decision", "reason"))
	}},
	"checkpoint": {"call a checkpoint", func(f form) [][]string { return one("checkpoint", f.flags("task", "reason")) }},
	"settle": {"put a discovery aside", func(f form) [][]string {
		how := "--defer"
		if f.text("how") == "reject" {
			how = "--reject"
		}
		return one("settle-discovery", append([]string{how}, f.flags("reason")...), f.text("id"))
	}},
	"convert":       {"make a discovery a task", func(f form) [][]string { return one("convert-discovery", f.flags("task"), f.text("id")) }},
	"recover-agent": {"give back what an agent holds", func(f form) [][]string { return one("recover-agent", nil, f.text("id")) }},
	"resolve":       {"resolve the breaker's trigger", func(f form) [][]string { return one("resolve", f.flags("seen", "text")) }},
	"goal-complete": {"complete the goal", func(f form) [][]string {
		return [][]string{append([]string{"goal", "complete"}, f.after("goal")...)}
	}},
}

// requested is a command line under a request's id, so that a form acts once, however often it is
// sent. The same form with other contents is another request.
func requested(line []string, id string) []string {
	if line[0] == "recover-agent" { // several operations, those that are left to do
		return line
	}
	return slices.Insert(line, commandWords(line), "--request="+id+"-"+hashOf(strings.Join(line, "\x00"))[:12])
}

// verdictOf claims the review first if it is free in the form, and gives the verdict. A rejection
// without line comments names a blocker.
func verdictOf(f form) [][]string {
	var lines [][]string
	if f.text("take") != "" {
		lines = one("claim-review", nil, f.text("id"))
	}
	flags := f.flags("commit")
	for _, prior := range strings.Split(f.text("prior"), "\n") {
		if prior = strings.TrimSpace(prior); prior != "" && f.text("issue") != "" {
			flags = append(flags, "--prior="+prior)
		}
	}
	if f.text("issue") != "" {
		blocker := board.Finding{Where: f.text("where"), Issue: f.text("issue"), Why: f.text("why"), Suggestion: f.text("suggestion")}
		flags = append(flags, "--blocker="+blocker.Flag(), "--overall="+f.text("reason"))
	} else {
		flags = append(flags, f.flags("reason")...)
	}
	return append(lines, one("verdict", flags, f.text("id"), f.text("verdict"))...)
}

// act carries out a form and redirects to the page it was on.
func (s *Server) act(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	a, known := acts[name]
	if !known {
		refuse(w, http.StatusNotFound, "There is nothing called that to do.", "")
		return
	}
	if s.Do == nil {
		refuse(w, http.StatusForbidden, "This board is only shown.", "git liza web without --read-only takes forms.")
		return
	}
	if err := r.ParseForm(); err != nil {
		refuse(w, http.StatusBadRequest, "The form could not be read: "+err.Error(), "")
		return
	}
	f := form{r.PostForm}
	back := local(f.text("back"))
	request := f.text("request")
	if request == "" { // from a page without its script
		request = "web-" + s.guard.random()[:16]
		f.Set("request", request)
	}
	var done Done
	ctx, end := s.toTheEnd(r)
	defer end()
	for _, line := range a.args(f) {
		d, err := s.Do(ctx, requested(line, request))
		if err != nil {
			s.refused(w, name, a, f, done, err)
			return
		}
		if d.Subject != "" { // the lines contain several operations
			done.Lines = append(done.Lines, d.Subject)
		}
		done.Lines = append(done.Lines, d.Lines...)
	}
	if len(done.Lines) > 0 {
		done.Subject, done.Lines = done.Lines[0], done.Lines[1:]
	}
	key := s.guard.random()[:16]
	s.flashes.put(key, done)
	values := back.Query()
	values.Set("done", key)
	back.RawQuery = values.Encode()
	http.Redirect(w, r, back.String(), http.StatusSeeOther)
}

// refused explains why something was not done, and shows the form again so that no input is lost.
func (s *Server) refused(w http.ResponseWriter, name string, a act, f form, before Done, err error) {
	refusal := &Refused{Message: err.Error()}
	errors.As(err, &refusal)
	var fields []field
	for _, n := range sortedKeys(f.Values) {
		for _, v := range f.Values[n] {
			if n == "back" || n == "take" && len(before.Lines) > 0 { // claimed by now
				continue
			}
			fields = append(fields, field{n, n, v, min(8, strings.Count(v, "\n")+len(v)/80)})
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusConflict)
	_ = pages.ExecuteTemplate(w, "refused", map[string]any{
		"Name": name, "Say": a.say, "Message": refusal.Message, "Hint": refusal.Hint, "Fields": fields, "Back": local(f.text("back")).String(), "Before": before.Lines,
	})
}
