package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func noteOf(request string) board.Operation {
	return board.Operation{Actor: ada, Request: request, Payload: &board.AddNote{Message: "m"}}
}

func findings(r *audit.Report) string {
	var lines []string
	for _, f := range r.Findings {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}

// TestExamineEnds checks that a push is read only up to the first commit that breaks a rule, and
// without that commit's tree. A push of a thousand records that are slow to read costs the server
// one of them.
func TestExamineEnds(t *testing.T) {
	w, repo := gitWorld(t)
	w.begin()
	from := w.tip()
	at := from
	for i := range 300 {
		at = w.forge(forgery{parent: at, op: noteOf(fmt.Sprint("f", i)), files: map[string][]byte{"tasks/deep.yaml": []byte("id: [")}})
	}
	push, err := audit.Examine(w.ctx, repo, w.log, audit.Range{From: from, To: at}, w.integration)
	check(t, err)
	if push.Commits != 0 || len(push.Findings) != 1 || push.Findings[0].Code != audit.CodeTree {
		t.Errorf("%d of 300 commits were taken: %s", push.Commits, texts(push.Findings))
	}
}

// TestGoesOn checks that after a violation the replay continues from that commit's tree, and
// reports each later violation once.
func TestGoesOn(t *testing.T) {
	w := memoryWorld(t)
	w.everyStatus()
	var forged []plumbing.OID
	bad := func(f forgery) {
		f.parent = w.tip()
		forged = append(forged, w.forge(f))
		w.rewind(forged[len(forged)-1])
	}
	// The board can live with this edit.
	bad(forgery{op: noteOf("f1"), files: map[string][]byte{"README.md": []byte("hello"), "docs/deep.md": []byte("x")}})
	w.do(ada, &board.AddNote{Message: "one"})
	// No operation led to this state, but what follows from it is valid.
	state := w.snapshot(w.tip()).State
	task := *state.Task("t-review")
	task.Status, task.ApprovedBy = board.Approved, "code-reviewer-1"
	data, err := codec.Encode(&task)
	check(t, err)
	bad(forgery{op: noteOf("f2"), files: map[string][]byte{"tasks/t-review.yaml": data}})
	m, at := w.mergeCommit("t-review", plumbing.OID(task.ReviewCommit))
	w.do(judge1, m, w.lands(at))
	// One record can't be read; the others can.
	bad(forgery{op: noteOf("f3"), files: map[string][]byte{"discovered/0/0/disc-1.yaml": []byte("id: disc-1\nby: [\n")}})
	w.do(ada, &board.AddNote{Message: "two"})
	w.do(coder1, &board.LogAnomaly{Type: "spec_ambiguity"})
	// An operation that the rules refuse, and a message that can't be parsed.
	bad(forgery{op: board.Operation{Actor: judge1, Request: "f4", Payload: &board.Verdict{About: about("t-claimed"), Verdict: "APPROVED", Checked: "tests", Commit: strings.Repeat("a", 40)}}})
	w.do(ada, &board.AddNote{Message: "three"})
	bad(forgery{op: noteOf("f5"), message: func(string) string { return "Merge branch 'main'\n" }})
	// The unreadable record is removed by hand.
	bad(forgery{op: noteOf("f6"), files: map[string][]byte{"discovered/0/0/disc-1.yaml": nil}})
	w.do(ada, &board.AddNote{Message: "four"})

	report := w.verify(audit.Range{})
	var found []plumbing.OID
	for _, f := range report.Findings {
		found = append(found, f.Commit)
	}
	if !slices.Equal(found, forged) {
		t.Errorf("found %d, forged %d:\n%s", len(found), len(forged), findings(report))
	}
	if report.Proven != report.Commits-len(forged) {
		t.Errorf("proven %d of %d", report.Proven, report.Commits)
	}
	if text := findings(report); !strings.Contains(text, "discovered/0/0/disc-1.yaml should not be there, and can't be read: line ") {
		t.Errorf("where it can't be read is not told:\n%s", text)
	}
	// A range that begins on the record that can't be read names it, and so does an operation on it.
	if part := w.verify(audit.Range{From: forged[2], To: forged[2]}); len(part.Findings) != 1 || part.Findings[0].Commit != forged[2] || !strings.Contains(findings(part), "disc-1.yaml can't be read: ") {
		t.Errorf("%s", findings(part))
	}
	settles := w.forge(forgery{parent: forged[2], op: board.Operation{Actor: ada, Request: "f7", Payload: &board.SettleDiscovery{Discovery: "disc-1"}}})
	near, err := audit.Near(w.ctx, w.store, audit.Range{From: forged[2], To: settles})
	check(t, err)
	if !strings.Contains(findings(near), "the board before it can't be read: ") {
		t.Errorf("%s", findings(near))
	}
	// The range after the last violation is clean.
	if rest := w.verify(audit.Range{From: forged[len(forged)-1]}); !rest.OK() || rest.Commits != 1 {
		t.Errorf("%+v", rest)
	}
}

// TestBoardWithoutGoal checks that a board without a record that every board has is reported and
// that verify continues.
func TestBoardWithoutGoal(t *testing.T) {
	w := memoryWorld(t)
	w.begin()
	tip := w.tip()
	forged := w.forge(forgery{parent: tip, op: noteOf("f"), files: map[string][]byte{"goals/goal-1.yaml": nil, "control.yaml": nil, "sprint.yaml": nil}})
	next := w.forge(forgery{parent: forged, op: board.Operation{Actor: planner, Request: "g", Payload: &board.AlignmentEntry{Event: "e", Summary: "s"}}})
	report := w.verify(audit.Range{From: tip, To: next})
	if len(report.Findings) != 2 || report.Findings[0].Commit != forged || report.Findings[1].Commit != next {
		t.Errorf("%s", findings(report))
	}
}

// TestReplayed checks that an operation committed a second time is found, also if its time is
// adjusted.
func TestReplayed(t *testing.T) {
	w := memoryWorld(t)
	w.begin()
	first := w.do(ada, &board.AddNote{Message: "buy milk"})
	w.do(ada, &board.AddNote{Message: "buy bread"})
	tip := w.tip()
	op := w.steps[len(w.steps)-2].op
	w.caught(t, tip, w.forge(forgery{parent: tip, op: op}), "invalid")
	op.Time = ""
	report := w.verify(audit.Range{To: w.forge(forgery{parent: tip, op: op})})
	if len(report.Findings) != 1 || report.Findings[0].Code != audit.CodeRequest || !strings.Contains(report.Findings[0].Text, first.Short()) {
		t.Errorf("%s", findings(report))
	}
	// The same commit object, brought to the tip.
	o, err := w.store.Object(w.ctx, string(first))
	check(t, err)
	c, err := plumbing.DecodeCommit(o)
	check(t, err)
	c.Parents = []plumbing.OID{tip}
	again := plumbing.NewObject("commit", plumbing.EncodeCommit(c))
	check(t, w.store.WriteObjects(w.ctx, []plumbing.Object{again}))
	w.caught(t, tip, again.OID, "invalid")
}

// TestRewritten checks that a verifier that remembers an earlier tip learns that the history was
// rewritten.
func TestRewritten(t *testing.T) {
	w := memoryWorld(t)
	w.begin()
	fork := w.tip()
	w.do(ada, &board.AddNote{Message: "the truth"})
	remembered := w.do(ada, &board.AddNote{Message: "and more"})
	w.rewind(fork)
	w.do(ada, &board.AddNote{Message: "another story"})
	report := w.verify(audit.Range{From: remembered})
	if len(report.Findings) != 1 || report.Findings[0].Code != audit.CodeRewritten || report.Findings[0].Commit != remembered {
		t.Errorf("%s", findings(report))
	}
	if report.Commits != len(w.steps)-2 {
		t.Errorf("%d commits", report.Commits)
	}
	// A record is changed in an old commit, in the middle of the history.
	o, err := w.store.Object(w.ctx, string(fork))
	check(t, err)
	if w.clean(); !bytes.Contains(o.Data, []byte("Liza-Op")) {
		t.Fatal("no board commit")
	}
	forged := w.forge(forgery{parent: w.find("register").parent, op: noteOf("f"), files: map[string][]byte{"x": nil, "tasks/zz.yaml": []byte("id: zz\n")}})
	w.rewind(forged)
	w.do(ada, &board.AddNote{Message: "on top of it"})
	report = w.verify(audit.Range{From: fork})
	if len(report.Findings) != 2 || report.Findings[0].Code != audit.CodeRewritten || report.Findings[1].Commit != forged {
		t.Errorf("%s", findings(report))
	}
}

// TestRoots checks which commits may begin a board.
func TestRoots(t *testing.T) {
	w := memoryWorld(t)
	if _, err := audit.Verify(w.ctx, w.store, nil, audit.Range{}, nil); !errors.Is(err, log.ErrNoBoard) {
		t.Errorf("no board: %v", err)
	}
	w.begin()
	op := noteOf("f")
	w.caught(t, "", w.forge(forgery{op: op}), "no-board")
	w.caught(t, "", w.forge(forgery{op: w.find("init").op, files: map[string][]byte{"tasks/a.yaml": []byte("id: a\n")}}), "tree")
	w.caught(t, w.tip(), w.forge(forgery{parent: w.tip(), op: board.Operation{Actor: ada, Request: "f", Payload: &board.Init{Goal: "again", IntegrationBranch: "i"}}}), "exists")

	// The parent of this commit does not exist.
	cut := w.forge(forgery{parent: w.tip(), op: op, commit: func(c *plumbing.Commit) { c.Parents = []plumbing.OID{plumbing.OID(strings.Repeat("cd", 20))} }})
	report := w.verify(audit.Range{To: cut})
	if len(report.Findings) == 0 || report.Findings[0].Code != audit.CodeHistory || report.Commits != 1 {
		t.Errorf("%s", findings(report))
	}

	var newer *log.NewerFormatError
	later := w.forge(forgery{parent: w.tip(), op: op, files: map[string][]byte{"board.yaml": []byte("format: 99\nepoch: two\n")}})
	if _, err := audit.Verify(w.ctx, w.store, nil, audit.Range{To: later}, nil); !errors.As(err, &newer) || newer.Format != 99 {
		t.Errorf("a later format: %v", err)
	}
}

// TestProgress checks that progress is reported and ends at the total.
func TestProgress(t *testing.T) {
	testrun.NotShort(t)
	w := memoryWorld(t)
	w.begin()
	for range 600 {
		w.do(ada, &board.AddNote{Message: "m"})
	}
	var told []int
	report, err := audit.Verify(w.ctx, w.store, nil, audit.Range{}, func(done, total int) {
		if total != len(w.steps) {
			t.Errorf("total %d", total)
		}
		told = append(told, done)
	})
	check(t, err)
	if !report.OK() || len(told) < 3 || told[len(told)-1] != len(w.steps) {
		t.Errorf("%v %s", told, findings(report))
	}
}
