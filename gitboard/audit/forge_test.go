package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// forgery describes a commit made by hand: an operation that is applied unchecked, and further
// changes to the commit.
type forgery struct {
	parent  plumbing.OID
	op      board.Operation
	files   map[string][]byte                   // files to add; nil removes one
	entries func(map[string]plumbing.TreeEntry) // changes the tree's entries
	message func(string) string                 // changes the message
	commit  func(*plumbing.Commit)              // changes the commit
	object  func(data string) (forged string)   // changes its bytes
}

// forge writes a forged commit and returns it. No ref points to it.
func (w *world) forge(f forgery) plumbing.OID {
	w.t.Helper()
	before, head, tree := board.NewState(board.NewMemory(), ""), plumbing.Commit{}, log.NewTree()
	if !f.parent.IsZero() {
		s := w.snapshot(f.parent)
		before, head = s.State, s.Head
		tree = testrun.Must(log.ReadTree(w.ctx, w.store, head.Tree))(w.t)
	}
	if f.op.Time == "" {
		f.op.Time = max(before.Time(), "2026-02-03T08:00:00Z").Add(time.Second)
	}
	after, message, long := carryOut(before, f.op)
	files, err := log.Files(after, long, codec.EncodeChecked)
	if err != nil {
		files = map[string][]byte{codec.PayloadFile: nil}
		if long != "" {
			files[codec.PayloadFile] = []byte(long)
		}
	}
	for path, data := range f.files {
		files[path] = data
	}
	next := testrun.Must(tree.Change(files))(w.t)
	check(w.t, w.store.WriteObjects(w.ctx, next.Objects(files)))
	root := next.Root()
	if f.entries != nil {
		entries := testrun.Must(next.Files())(w.t)
		f.entries(entries)
		root = w.writeTree(entries)
	}
	if f.message != nil {
		message = f.message(message)
	}
	name, email := log.Author(f.op.Actor)
	when := f.op.Time.Std()
	c := plumbing.Commit{
		Tree: root, Message: message,
		Author:    plumbing.Signature{Name: name, Email: email, When: when},
		Committer: plumbing.Signature{Name: "Ada", Email: "ada@example.org", When: when},
	}
	if !f.parent.IsZero() {
		c.Parents = []plumbing.OID{f.parent}
	}
	if f.commit != nil {
		f.commit(&c)
	}
	data := plumbing.EncodeCommit(c)
	if f.object != nil {
		data = []byte(f.object(string(data)))
	}
	o := plumbing.NewObject("commit", data)
	check(w.t, w.store.WriteObjects(w.ctx, []plumbing.Object{o}))
	return o.OID
}

// carryOut applies an operation as far as possible, even if it is not allowed, and encodes its
// message.
func carryOut(before *board.State, op board.Operation) (after *board.State, message, long string) {
	after = board.NewState(before, op.Time)
	func() {
		defer func() { _ = recover() }()
		board.Apply(after, op)
	}()
	defer func() {
		if recover() != nil {
			payload, _ := codec.EncodePayload(op)
			message = fmt.Sprintf("%s: forged\n\nLiza-Op: %[1]s\nLiza-Agent: %s\nLiza-Role: %s\nLiza-Task: %s\nLiza-Request: %s\nLiza-Payload: %s\n",
				op.Name(), op.Actor.ID, op.Actor.Role, op.TaskID(), op.Request, payload)
		}
	}()
	message, long, _ = codec.Message(before, after, op)
	return after, message, long
}

func (w *world) writeTree(entries map[string]plumbing.TreeEntry) plumbing.OID {
	dirs := map[string]map[string]plumbing.TreeEntry{}
	var own []plumbing.TreeEntry
	for path, e := range entries {
		dir, rest, nested := strings.Cut(path, "/")
		if !nested {
			own = append(own, plumbing.TreeEntry{Name: path, Mode: e.Mode, OID: e.OID})
			continue
		}
		if dirs[dir] == nil {
			dirs[dir] = map[string]plumbing.TreeEntry{}
		}
		dirs[dir][rest] = e
	}
	for dir, below := range dirs {
		own = append(own, plumbing.TreeEntry{Name: dir, Mode: filemode.Dir, OID: w.writeTree(below)})
	}
	o := plumbing.NewObject("tree", plumbing.EncodeTree(own))
	check(w.t, w.store.WriteObjects(w.ctx, []plumbing.Object{o}))
	return o.OID
}

// caught verifies a single forged commit, which must have a finding with one of these codes.
func (w *world) caught(t *testing.T, parent, forged plumbing.OID, codes ...board.ErrorCode) *audit.Report {
	t.Helper()
	report := w.verify(audit.Range{From: parent, To: forged})
	if len(report.Findings) == 0 {
		t.Fatalf("%s was not found wrong", forged.Short())
	}
	for _, f := range report.Findings {
		if f.Commit != forged {
			t.Errorf("%s is blamed, not %s: %s", f.Commit.Short(), forged.Short(), f)
		}
	}
	if !slices.ContainsFunc(report.Findings, func(f audit.Finding) bool { return slices.Contains(codes, f.Code) }) {
		t.Errorf("found %q (%s), not %v", report.Findings[0].Text, report.Findings[0].Code, codes)
	}
	if !parent.IsZero() {
		near := testrun.Must(audit.Near(w.ctx, w.store, audit.Range{From: parent, To: forged}))(t)
		if len(near.Findings) == 0 || near.Findings[0] != report.Findings[0] {
			t.Errorf("a server finds %v, not %v", near.Findings, report.Findings)
		}
	}
	return report
}

// everyStatus brings one task into each state, and returns its id by the state.
func (w *world) everyStatus() map[board.Status]string {
	w.begin()
	tasks := map[board.Status]string{}
	in := func(status, from board.Status) string {
		id := "t-" + strings.ToLower(strings.ReplaceAll(string(status), "_", "-"))
		tasks[status] = id
		w.reach(from, id, 0, 0)
		return id
	}
	for _, status := range []board.Status{
		board.Draft, board.Unclaimed, board.IntegrationFailed, board.Approved, board.Rejected, board.ReadyForReview, board.Blocked,
	} {
		in(status, status)
	}
	merged := in(board.Merged, board.Approved)
	w.merge(merged, plumbing.OID(w.task(merged).ReviewCommit))
	w.do(planner, &board.Abandon{About: about(in(board.Abandoned, board.Unclaimed)), Reason: "no need"})
	w.do(planner, &board.Supersede{About: about(in(board.Superseded, board.Unclaimed)), By: []string{tasks[board.Unclaimed]}, Reason: "The same thing."})
	in(board.Claimed, board.Claimed)
	for _, s := range board.Statuses {
		if w.task(tasks[s]).Status != s {
			w.t.Fatalf("no task is %s", s)
		}
	}
	return tasks
}

// TestForgedCommits covers everything else that can be wrong with a commit.
func TestForgedCommits(t *testing.T) {
	w := memoryWorld(t)
	w.everyStatus()
	tip := w.tip()
	note := func(a board.Actor) board.Operation {
		return board.Operation{Actor: a, Request: "forged", Payload: &board.AddNote{For: "human", Message: "psst <b>\u2028"}}
	}
	as := func(a board.Actor, change func(*board.Actor)) board.Actor { change(&a); return a }
	edit := func(path, old, new string) map[string][]byte {
		tree := testrun.Must(log.ReadTree(w.ctx, w.store, w.snapshot(tip).Head.Tree))(t)
		files := testrun.Must(tree.Files())(t)
		o := testrun.Must(w.store.Object(w.ctx, string(files[path].OID)))(t)
		if !strings.Contains(string(o.Data), old) {
			t.Fatalf("%s has no %q", path, old)
		}
		return map[string][]byte{path: []byte(strings.Replace(string(o.Data), old, new, 1))}
	}
	replace := func(old, new string) func(string) string {
		return func(text string) string {
			if !strings.Contains(text, old) {
				t.Fatalf("%q is not in %q", old, text)
			}
			return strings.Replace(text, old, new, 1)
		}
	}
	type wrong struct {
		f    forgery
		code board.ErrorCode
		text string
	}
	n := 0
	for name, c := range testrun.Some(1, map[string]wrong{
		"wrong session": {forgery{op: note(as(planner, func(a *board.Actor) { a.Session = "stolen" }))}, "session", "planner-1"},
		"request again": {forgery{op: board.Operation{Actor: ada, Request: w.find("add-task").op.Request, Payload: &board.AddNote{Message: "m"}}}, "", ""},

		"extra file":             {forgery{op: note(ada), files: map[string][]byte{"evil.sh": []byte("rm -rf /")}}, "tree", "evil.sh should not be there"},
		"missing record":         {forgery{op: note(ada), files: map[string][]byte{"tasks/t-draft.yaml": nil}}, "tree", "tasks/t-draft.yaml is missing"},
		"changed field":          {forgery{op: note(ada), files: edit("tasks/t-ready-for-review.yaml", "status: READY_FOR_REVIEW", "status: APPROVED")}, "tree", "tasks/t-ready-for-review.yaml differs: line 4"},
		"broken YAML":            {forgery{op: note(ada), files: edit("tasks/t-ready-for-review.yaml", "priority: 3", "priority: [3")}, "tree", "line 6"},
		"payload without reason": {forgery{op: note(ada), files: map[string][]byte{"payload.json": []byte("{}")}}, "tree", "payload.json should not be there"},
		"a link for a record":    {forgery{op: note(ada), entries: func(e map[string]plumbing.TreeEntry) { set(e, "tasks/t-draft.yaml", filemode.Symlink) }}, "tree", "tasks/t-draft.yaml has the mode"},
		"no tree":                {forgery{op: note(ada), commit: func(c *plumbing.Commit) { c.Tree = plumbing.OID(strings.Repeat("ab", 20)) }}, "tree", "can't be read"},

		"subject edited":       {forgery{op: note(ada), message: func(m string) string { return "urgent " + m }}, "message", "line 1"},
		"body edited":          {forgery{op: note(ada), message: replace("\n\n", "\n\n  looks good\n\n")}, "message", "line 3"},
		"trailer added":        {forgery{op: note(ada), message: replace("Liza-Op:", "Reviewed-by: everyone\nLiza-Op:")}, "message", "carries no operation"},
		"trailer removed":      {forgery{op: note(ada), message: replace("Liza-Request: forged\n", "")}, "message", "lacks a trailer"},
		"trailer twice":        {forgery{op: note(ada), message: replace("Liza-Op: note\n", "Liza-Op: note\nLiza-Op: note\n")}, "message", "carries no operation"},
		"trailers reordered":   {forgery{op: note(ada), message: replace("Liza-Op: note\nLiza-Agent: human\n", "Liza-Agent: human\nLiza-Op: note\n")}, "message", "not the operation's"},
		"task where none is":   {forgery{op: note(ada), message: replace("Liza-Request", "Liza-Task: t-draft\nLiza-Request")}, "message", "not the operation's"},
		"payload reordered":    {forgery{op: note(ada), message: func(m string) string { return reordered(t, m) }}, "message", "canonical"},
		"payload spaced":       {forgery{op: note(ada), message: replace(`{"v":1,`, `{"v": 1,`)}, "message", "canonical"},
		"payload of elsewhere": {forgery{op: note(ada), message: replace(`"for":"human"`, `"fro":"human"`)}, "message", "unknown field"},
		"payload of later":     {forgery{op: note(ada), message: replace(`{"v":1,`, `{"v":2,`)}, "message", "a newer git-liza"},
		"payload named, absent": {forgery{op: note(ada), message: func(m string) string {
			return m[:strings.Index(m, "Liza-Payload: ")] + "Liza-Payload: " + codec.PayloadReference() + "\n"
		}}, "message", "payload.json"},
		"another operation":   {forgery{op: note(ada), message: replace("Liza-Op: note", "Liza-Op: abort")}, "message", "carries no operation"},
		"no operation at all": {forgery{op: note(ada), message: func(string) string { return "wip\n" }}, "message", "carries no operation"},
		"no line feed":        {forgery{op: note(ada), message: func(m string) string { return strings.TrimSuffix(m, "\n") }}, "message", "not the operation's"},

		"two parents":        {forgery{op: note(ada), commit: func(c *plumbing.Commit) { c.Parents = append(c.Parents, w.find("register").commit) }}, "history", "2 parents"},
		"an agent's address": {forgery{op: note(board.HumanActor("Coder", "coder-1@liza"))}, "identity", "acts as a human"},
		"nobody":             {forgery{op: note(ada), commit: func(c *plumbing.Commit) { c.Author.Name, c.Author.Email = "", "" }}, "identity", "no name"},
		"author forged":      {forgery{op: note(planner), commit: func(c *plumbing.Commit) { c.Author.Name = "Ada" }}, "identity", "should be planner-1 <planner-1@liza>"},
		"no name":            {forgery{op: note(board.HumanActor("", "ada@example.org"))}, "identity", "the human who acted has no name or no address"},
		"committer nowhere":  {forgery{op: note(ada), commit: func(c *plumbing.Commit) { c.Committer.Email = "" }}, "identity", "the committer has no name or no address"},
		"a bell":             {forgery{op: note(ada), commit: func(c *plumbing.Commit) { c.Committer.Email = "a\a" }}, "identity", "committer's name or address"},
		"a human's name":     {forgery{op: note(board.HumanActor("Ada\x1b[2J", "ada@example.org"))}, "identity", "control character"},
		"a committer's name": {forgery{op: note(ada), commit: func(c *plumbing.Commit) { c.Committer.Name = "Ada\x1b]0;x\x07" }}, "identity", "committer's name"},
		"a device's name":    {forgery{op: board.Operation{Actor: planner, Request: "r", Payload: &board.AddTask{About: about("nul"), Definition: w.definition()}}}, "invalid", "Windows"},
		"committed later":    {forgery{op: note(ada), commit: func(c *plumbing.Commit) { c.Committer.When = c.Committer.When.Add(time.Hour) }}, "time", "committer's"},
		"another zone":       {forgery{op: note(ada), commit: func(c *plumbing.Commit) { c.Author.When = c.Author.When.In(time.FixedZone("", 3600)) }}, "time", "UTC"},
		"committer's zone":   {forgery{op: note(ada), commit: func(c *plumbing.Commit) { c.Committer.When = c.Committer.When.In(time.FixedZone("", 3600)) }}, "time", "UTC"},
		"signed": {forgery{op: note(ada), commit: func(c *plumbing.Commit) {
			c.GPGSig = "-----BEGIN PGP SIGNATURE-----\n\nx\n-----END PGP SIGNATURE-----\n"
		}}, "signature", "not an SSH signature"},
		"encoding":     {forgery{op: note(ada), object: replace("\n\n", "\nencoding ISO-8859-1\n\n")}, "form", "headers"},
		"extra header": {forgery{op: note(ada), object: replace("\n\n", "\nliza-says hello\n\n")}, "form", "headers"},
		"no commit":    {forgery{op: note(ada), object: func(string) string { return "nonsense" }}, "", ""},
	}) {
		n++
		t.Run(name, func(t *testing.T) {
			c.f.parent = tip
			forged := w.forge(c.f)
			if c.code == "" {
				// Only the whole history shows it, or it shows in one of several ways.
				report := w.verify(audit.Range{To: forged})
				if len(report.Findings) == 0 || report.Findings[0].Commit != forged || len(report.Findings) > 2 {
					t.Errorf("%v", report.Findings)
				}
				return
			}
			report := w.caught(t, tip, forged, c.code)
			if !slices.ContainsFunc(report.Findings, func(f audit.Finding) bool { return strings.Contains(f.Text, c.text) }) {
				t.Errorf("%v does not say %q", report.Findings, c.text)
			}
			if !testrun.OneIn(8, n) {
				return
			}
			// The whole history reports the same findings, once.
			whole := w.verify(audit.Range{To: forged})
			if len(whole.Findings) != len(report.Findings) || whole.Proven != whole.Commits-1 {
				t.Errorf("the whole history: %v", whole.Findings)
			}
		})
	}
}

func set(entries map[string]plumbing.TreeEntry, path string, mode filemode.FileMode) {
	e := entries[path]
	e.Mode = mode
	entries[path] = e
}

// reordered moves the first field of a payload to the end.
func reordered(t *testing.T, message string) string {
	i := strings.Index(message, `{"v":1,`)
	out := message[:i] + "{" + strings.TrimSuffix(strings.TrimPrefix(message[i:], `{"v":1,`), "}\n") + `,"v":1}` + "\n"
	if out == message {
		t.Fatal("nothing to reorder")
	}
	return out
}
