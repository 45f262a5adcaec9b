package audit_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
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
	push := testrun.Must(audit.Examine(w.ctx, repo, w.log, audit.Range{From: from, To: at}, w.integration))(t)
	if push.Proven != 0 || len(push.Findings) != 1 || push.Findings[0].Code != audit.CodeTree {
		t.Errorf("%d of 300 commits were taken: %s", push.Proven, texts(push.Findings))
	}
}

// TestEndsAtTheFirst checks that the replay ends at the first violation, counts the commits after it, and
// judges them from there on when it is asked to.
func TestEndsAtTheFirst(t *testing.T) {
	w := memoryWorld(t)
	w.begin()
	w.do(ada, &board.AddNote{Message: "zero"})
	good := w.tip()
	forged := w.forge(forgery{parent: good, op: noteOf("f1"), files: map[string][]byte{"README.md": []byte("hello"), "discovered/0/0/disc-1.yaml": []byte("id: disc-1\nby: [\n")}})
	w.rewind(forged)
	w.do(ada, &board.AddNote{Message: "one"})
	w.rewind(w.forge(forgery{parent: w.tip(), op: noteOf("f2"), message: func(string) string { return "Merge branch 'main'\n" }}))
	w.do(ada, &board.AddNote{Message: "two"})
	report := w.verify(audit.Range{})
	if len(report.Findings) != 1 || report.Findings[0].Commit != forged || report.Proven != len(w.steps)-2 || report.Commits != report.Proven+1 {
		t.Errorf("%d of %d proven: %s", report.Proven, len(w.steps), findings(report))
	}
	if len(report.Notes) != 1 || !strings.HasSuffix(report.Notes[0].Text, "3 commits after it: not judged") {
		t.Errorf("notes: %v", report.Notes)
	}
	if rest := w.verify(audit.Range{From: forged}); len(rest.Findings) != 1 || rest.Proven != 1 {
		t.Errorf("from the first violation on: %d proven: %s", rest.Proven, findings(rest))
	}
	settles := w.forge(forgery{parent: forged, op: board.Operation{Actor: ada, Request: "f3", Payload: &board.SettleDiscovery{Discovery: "disc-1"}}})
	if near := w.verify(audit.Range{From: forged, To: settles}); !strings.Contains(findings(near), "the board before it can't be read: ") {
		t.Errorf("%s", findings(near))
	}
}

// TestBoardWithoutGoal checks that a board without a record that every board has is reported.
func TestBoardWithoutGoal(t *testing.T) {
	w := memoryWorld(t)
	w.begin()
	forged := w.forge(forgery{parent: w.tip(), op: noteOf("f"), files: map[string][]byte{"goals/goal-1.yaml": nil, "control.yaml": nil, "sprint.yaml": nil}})
	next := w.forge(forgery{parent: forged, op: board.Operation{Actor: planner, Request: "g", Payload: &board.AlignmentEntry{Event: "e", Summary: "s"}}})
	if report := w.verify(audit.Range{From: forged, To: next}); len(report.Findings) != 1 || report.Findings[0].Commit != next {
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
	if len(report.Findings) == 0 || report.Findings[0].Code != audit.CodeHistory {
		t.Errorf("%s", findings(report))
	}

	var newer *log.NewerFormatError
	later := w.forge(forgery{parent: w.tip(), op: op, files: map[string][]byte{"board.yaml": []byte("format: 99\nepoch: two\n")}})
	if _, err := audit.Verify(w.ctx, w.store, nil, audit.Range{To: later}, nil); !errors.As(err, &newer) || newer.Format != 99 {
		t.Errorf("a later format: %v", err)
	}
}

// TestProgress checks that progress is reported, ends at the total, and does not begin again on a sound
// history: it is replayed once.
func TestProgress(t *testing.T) {
	testrun.NotShort(t)
	w := memoryWorld(t)
	w.begin()
	for range 600 {
		w.do(ada, &board.AddNote{Message: "m"})
	}
	var told []int
	report, err := audit.Verify(w.ctx, w.store, nil, audit.Range{}, func(done, total int) {
		testrun.Equal(t, total, len(w.steps), "total")
		told = append(told, done)
	})
	check(t, err)
	if !report.OK() || len(told) < 3 || !slices.IsSorted(told) || told[len(told)-1] != len(w.steps) {
		t.Errorf("%v %s", told, findings(report))
	}
}
