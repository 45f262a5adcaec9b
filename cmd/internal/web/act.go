package web

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/git-liza/git-liza/cmd/internal/acts"
	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/recovery"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees"
)

// act is what a form asks for.
type act struct {
	say string // its effect, for the page that explains a refusal
	act func(f form) call.Act
	// missing says in words what the form lacks, "" for nothing. Without it the texts in needs are
	// what it must have.
	missing func(f form) string
	needs   map[string]string // by field: the sentence that asks for it
}

// form is a browser's form data.
type form struct{ url.Values }

func (f form) text(name string) string {
	return strings.TrimSpace(strings.ReplaceAll(f.Get(name), "\r\n", "\n"))
}

func (f form) about() board.About { return board.About{Task: f.text("id")} }

// list is the field's words, with commas or spaces between them.
func (f form) list(name string) []string {
	return strings.FieldsFunc(f.text(name), func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// doing is an act that is one operation.
func doing(payload func(f form) board.Payload) func(f form) call.Act {
	return func(f form) call.Act { return acts.Plain(payload(f)) }
}

// ending is an act that may end a task's worktree.
func ending(payload func(f form) board.TaskPayload) func(f form) call.Act {
	return func(f form) call.Act {
		return acts.Of(func(ctx context.Context, c *call.Call, p board.TaskPayload) (call.Result, error) {
			return c.Ending(ctx, p)
		}, payload(f))
	}
}

// formActs are the acts by the name in their address.
var formActs = map[string]act{
	"answer": {say: "answer", missing: unanswered, act: answer},
	"reply": {say: "say what the protocol asks for", needs: map[string]string{"text": "Write what the protocol asks for."}, act: func(f form) call.Act {
		return acts.All(&board.AddNote{For: f.text("for"), Message: f.text("text")}, &board.Ack{IDs: []string{f.text("id")}})
	}},
	"note": {say: "leave a note", needs: map[string]string{"text": "Write the note: it has no text."},
		act: func(f form) call.Act {
			return acts.Of(acts.Note, &board.AddNote{For: f.text("for"), Message: f.text("text")})
		}},
	"run": {say: "end or restart a run",
		act: doing(func(f form) board.Payload {
			return acts.Ask(f.text("for"), f.text("how") == "end", f.text("how") == "fresh")
		})},
	"ack": {say: "acknowledge", act: doing(func(f form) board.Payload { return &board.Ack{IDs: []string{f.text("id")}} })},
	"block": {say: "block a task", act: func(f form) call.Act {
		p := &board.Block{About: f.about(), Reason: f.text("reason")}
		if q := f.text("question"); q != "" {
			p.Questions = []string{q}
		}
		return acts.Of(acts.Block, p)
	}},
	"comment": {say: "comment on a line", needs: map[string]string{"text": "Write the comment: it has no text."}, act: func(f form) call.Act {
		path, line, _ := text.ParsePlace(f.text("where"))
		r := gitboard.CommentRequest{Task: f.text("id"), Commit: f.text("commit"), Path: path, Line: line, Text: f.text("text")}
		return acts.Named("comment", acts.Comment, r)
	}},
	"review": {say: "take a review", act: func(f form) call.Act {
		return acts.Named("claim-review", acts.ClaimReview, f.text("id"))
	}},
	"give-back": {say: "give a review back", act: release("reviewer", true)},
	"give-up":   {say: "give back what is in a lost clone", act: release("coder", false)},
	"verdict":   {say: "give a verdict", missing: lackingVerdict, act: verdict},
	"abandon": {say: "abandon a task", needs: map[string]string{"reason": "Say why the task is not needed."},
		act: ending(func(f form) board.TaskPayload { return &board.Abandon{About: f.about(), Reason: f.text("reason")} })},
	"supersede": {say: "replace a task by others", needs: map[string]string{"by": "Name the tasks that replace it.", "reason": "Say what the root cause is."},
		act: ending(func(f form) board.TaskPayload {
			return &board.Supersede{About: f.about(), By: f.list("by"), Reason: f.text("reason")}
		})},
	"reassign": {say: "give a task to another coder", act: doing(func(f form) board.Payload { return &board.Reassign{About: f.about(), Reason: f.text("reason")} })},
	"amend":    {say: "change a task", missing: lackingAmendment, act: amend},
	"finalize": {say: "approve drafts", needs: map[string]string{"id": "Mark at least one draft."}, act: func(f form) call.Act {
		return acts.Named("finalize", acts.Finalize, f.Values["id"])
	}},
	"send-back": {say: "send drafts back to their planner", needs: map[string]string{"id": "Mark at least one draft.", "reason": "Say what should change: the planner acts on it."}, act: func(f form) call.Act {
		return acts.RejectDrafts(f.text("reason"), f.Values["id"])
	}},
	"pause": {say: "pause", act: doing(func(f form) board.Payload {
		return &board.Pause{About: board.About{Task: f.text("task")}, Reason: f.text("reason")}
	})},
	"resume": {say: "resume", act: func(f form) call.Act {
		p := &board.Resume{About: board.About{Task: f.text("task")}, Decision: f.text("decision"), Reason: f.text("reason")}
		return acts.Of(acts.Resume, p)
	}},
	"checkpoint": {say: "call a checkpoint", act: func(f form) call.Act {
		return acts.Named("checkpoint", acts.Checkpoint, f.text("reason"))
	}},
	"settle": {say: "put a discovery aside", needs: map[string]string{"reason": "Say why it can wait, or why it is none."}, act: doing(func(f form) board.Payload {
		how := map[bool]string{true: "rejected", false: "deferred"}[f.text("how") == "reject"]
		return &board.SettleDiscovery{Discovery: f.text("id"), How: how, Reason: f.text("reason")}
	})},
	"convert": {say: "make a discovery a task", needs: map[string]string{"task": "Name the task that takes it up."},
		act: doing(func(f form) board.Payload {
			return &board.ConvertDiscovery{Discovery: f.text("id"), Task: f.text("task")}
		})},
	"recover-agent": {say: "give back what an agent holds", act: func(f form) call.Act {
		return acts.Named("recover-agent", func(ctx context.Context, c *call.Call, id string) (call.Result, error) {
			r, err := recovery.RecoverAgent(ctx, c, id, false)
			return call.Result{Lines: r.Lines()}, err
		}, f.text("id"))
	}},
	"resolve": {say: "resolve the breaker's trigger", needs: map[string]string{"text": "Say what was found and decided."}, act: func(f form) call.Act {
		return acts.Named("resolve", acts.Resolve, f.text("text"))
	}},
	"goal-complete": {say: "complete the goal", act: func(f form) call.Act {
		return acts.Named("goal complete", acts.CompleteGoal, &board.GoalComplete{Goal: f.text("goal")})
	}},
}

// labels are the fields that a person fills in, as a refused form shows them again. The others are
// kept out of sight.
var labels = map[string]string{
	"text": "Text", "reason": "Why", "question": "Question", "for": "For", "by": "Tasks that replace it", "task": "Task",
	"where": "Where, as file:line", "issue": "What is wrong", "why": "Why it matters", "suggestion": "Suggestion", "anomaly": "Its logged anomaly", "prior": "What became of the earlier findings",
	"desc": "Description", "done": "Done when", "scope": "Scope", "spec": "Spec", "depends": "Depends on", "priority": "Priority",
}

// lacking says what the form lacks.
func (a act) lacking(f form) string {
	if a.missing != nil {
		return a.missing(f)
	}
	for _, name := range slices.Sorted(maps.Keys(a.needs)) {
		if f.text(name) == "" {
			return a.needs[name]
		}
	}
	return ""
}

// answer continues a blocked task with an answer to its questions. Without an answer it is
// unblocked.
// unanswered asks for the answer, unless the task is to go on without one.
func unanswered(f form) string {
	if f.text("text") == "" && f.text("without") == "" {
		return "Write the answer: it has no text."
	}
	return ""
}

func answer(f form) call.Act {
	said, afresh := f.text("text"), f.text("how") == "afresh"
	if said != "" {
		return acts.Of(acts.Answer, &board.Answer{About: f.about(), Text: said, Afresh: afresh})
	}
	mode := map[bool]string{true: board.UnblockFresh, false: board.UnblockKeepWork}[afresh]
	return acts.Of(acts.Unblock, &board.Unblock{About: f.about(), Mode: mode})
}

// release gives back what a role holds.
func release(role string, force bool) func(f form) call.Act {
	return func(f form) call.Act {
		return call.Act{Op: "release", Do: func(ctx context.Context, c *call.Call) (call.Result, error) {
			return acts.Release(ctx, c, f.text("id"), role, f.text("reason"), force)
		}}
	}
}

// verdict takes the review first if the form says so. A rejection without comments on lines has a
// blocker.
func verdict(f form) call.Act {
	r := worktrees.VerdictRequest{Task: f.text("id"), Verdict: f.text("verdict"), Commit: f.text("commit"), Reason: f.text("reason")}
	if r.Verdict == board.VerdictRejected {
		r.Reason, r.Rejection = "", &board.Rejection{Overall: f.text("reason")}
		if f.text("issue") != "" {
			r.Rejection.Blockers = []board.Finding{{Where: f.text("where"), Issue: f.text("issue"), Why: f.text("why"), Suggestion: f.text("suggestion")}}
			r.Rejection.Spec, r.Rejection.Anomaly = f.text("spec"), f.text("anomaly")
			r.Rejection.Prior = slices.DeleteFunc(strings.Split(f.text("prior"), "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
		}
	}
	return call.Act{Op: "verdict", Do: func(ctx context.Context, c *call.Call) (call.Result, error) {
		return acts.Judge(ctx, c, r, f.text("take") != "")
	}}
}

func lackingVerdict(f form) string {
	if f.text("verdict") != board.VerdictRejected {
		return ""
	}
	var lacks []string
	blocker := f.text("where")+f.text("issue")+f.text("why")+f.text("suggestion") != ""
	for _, name := range []string{"issue", "where", "why", "suggestion", "spec", "anomaly"} {
		if blocker && f.text(name) == "" {
			lacks = append(lacks, strings.ToLower(labels[name][:1])+labels[name][1:])
		}
	}
	_, _, placed := text.ParsePlace(strings.TrimSuffix(f.text("where"), " (missing)"))
	switch {
	case f.text("reason") == "":
		return "Write your assessment in a sentence or two."
	case len(lacks) > 0:
		return "The blocker still lacks: " + strings.Join(lacks, ", ") + "."
	case blocker && !placed:
		return "The blocker's place is a file and a line, like api/login.go:17."
	case !blocker && f.text("commented") == "no":
		return "Comment on a line first, or describe a blocker: the author has to know what to change."
	case blocker && f.text("again") != "" && f.text("prior") == "" && f.text("commented") == "no":
		return "Say what became of the earlier findings, a line each: RESOLVED, STILL PRESENT or PARTIAL, and what."
	}
	return ""
}

// amended lists the fields that the form changes.
func amended(f form) (set []string) {
	for name, field := range map[string]string{"desc": "description", "done": "done_when", "scope": "scope", "spec": "spec_ref", "depends": "depends_on", "priority": "priority"} {
		if f.text(name) != f.text("was-"+name) {
			set = append(set, field)
		}
	}
	slices.Sort(set)
	return set
}

func amend(f form) call.Act {
	to := board.Definition{Description: f.text("desc"), DoneWhen: f.text("done"), Scope: f.text("scope"), SpecRef: f.text("spec"), DependsOn: f.list("depends")}
	to.Priority, _ = strconv.Atoi(f.text("priority"))
	return call.Act{Op: "amend-task", Do: func(ctx context.Context, c *call.Call) (call.Result, error) {
		return acts.Amend(ctx, c, f.text("id"), to, amended(f), false, "", f.text("reason"))
	}}
}

func lackingAmendment(f form) string {
	set := amended(f)
	_, err := strconv.Atoi(f.text("priority"))
	switch {
	case len(set) == 0:
		return "Nothing is changed yet."
	case slices.Contains(set, "priority") && err != nil:
		return "The priority is a number from 1 (first) to 5 (last)."
	}
	return ""
}

// requested is the id under which a form acts once, however often it is sent. The same form with
// other contents is another request.
func (f form) requested(name string) string {
	if name == "recover-agent" { // several operations, those that are left to do
		return ""
	}
	rest := url.Values{}
	for field, values := range f.Values {
		if !slices.Contains([]string{"back", "request", "take"}, field) {
			rest[field] = values
		}
	}
	return f.text("request") + "-" + hashOf(name + "?" + rest.Encode())[:12]
}

// act carries out a form and redirects to the page it was on.
func (s *Server) act(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	a, known := formActs[name]
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
	if f.text("request") == "" { // from a page without its script
		f.Set("request", "web-"+s.guard.random()[:16])
	}
	if lacks := a.lacking(f); lacks != "" {
		s.refused(w, name, a, f, call.Result{}, errors.New(lacks))
		return
	}
	ctx, end := s.toTheEnd(r)
	defer end()
	asked := a.act(f)
	asked.Request, asked.Seen = f.requested(name), f.Values["seen"]
	done, err := s.Do(ctx, asked)
	if err != nil {
		s.refused(w, name, a, f, done, err)
		return
	}
	key := s.guard.random()[:16]
	s.flashes.put(key, done.Said())
	values := back.Query()
	values.Set("done", key)
	back.RawQuery = values.Encode()
	http.Redirect(w, r, back.String(), http.StatusSeeOther)
}

// refused explains why something was not done, and shows the form again so that no input is lost.
func (s *Server) refused(w http.ResponseWriter, name string, a act, f form, before call.Result, err error) {
	var fields []field
	for _, n := range sortedKeys(f.Values) {
		for _, v := range f.Values[n] {
			if n == "back" || n == "take" && len(before.Done) > 0 { // claimed by now
				continue
			}
			fields = append(fields, field{n, labels[n], v, min(8, strings.Count(v, "\n")+len(v)/80)})
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusConflict)
	_ = pages.ExecuteTemplate(w, "refused", map[string]any{
		"Name": name, "Say": a.say, "Message": err.Error(), "Hint": call.Classify(err).Hint, "Fields": fields, "Back": local(f.text("back")).String(), "Before": before.Said(),
	})
}
