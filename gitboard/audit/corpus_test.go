package audit_test

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// The corpus is a set of recorded histories that must always verify. Each is a git bundle: git fetch
// FILE 'refs/*:refs/*' fetches it into any repository, where git log, git show and git liza work on it.
//
//	go test ./gitboard/audit -run Corpus -record
//		records another history under the next free number
//	go test ./gitboard/audit -run Corpus -record -replace
//		replaces the newest one, which is allowed only before the first release
//
// A change of the rules or the bytes that makes a released history fail here needs a new epoch, not
// a new recording.
var (
	record  = flag.Bool("record", false, "record a history for the corpus")
	replace = flag.Bool("replace", false, "with -record: in place of the newest")
)

const abortedRef = "refs/heads/liza/aborted"

func corpusFiles(t *testing.T) []string {
	t.Helper()
	files := testrun.Must(filepath.Glob(filepath.Join("testdata", "corpus", "*.bundle")))(t)
	slices.Sort(files)
	return files
}

func TestCorpus(t *testing.T) {
	testrun.NotShort(t)
	if *record {
		recordHistory(t)
	}
	files := corpusFiles(t)
	if len(files) == 0 {
		t.Fatal("there is no corpus")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			verifies(t, file)
		})
	}
}

// recordHistory writes a history to a file, unless the newest one has just these commits: a recording
// has the same commits every time.
func recordHistory(t *testing.T) {
	w, repo := gitWorld(t)
	w.corpusHistory()
	files := corpusFiles(t)
	file := filepath.Join("testdata", "corpus", fmt.Sprintf("%03d.bundle", len(files)+1))
	if len(files) > 0 {
		newest := files[len(files)-1]
		heads := testrun.RunGit(t, ".", "bundle", "list-heads", newest)
		if heads == testrun.RunGit(t, repo.CommonDir(), "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/liza/review") {
			t.Logf("%s has just this history", newest)
			return
		}
		if *replace {
			file = newest
		}
	}
	file = testrun.Must(filepath.Abs(file))(t)
	testrun.RunGit(t, repo.CommonDir(), "bundle", "create", "--quiet", file, "--branches", "--glob=refs/liza/review/*")
	t.Logf("recorded %s", file)
}

// verifies verifies a recorded history, some of its operations and those of its other end alone, and
// checks that everything that can happen to a board happens in it.
func verifies(t *testing.T, file string) {
	w := recorded(t, file)
	report := w.clean()
	for _, f := range report.Notes {
		t.Errorf("%s (%s)", f, f.Code)
	}
	if report.Proven != report.Commits || report.Commits < 300 || report.Checked == 0 || report.Unchecked != 0 {
		t.Errorf("%d commits, %d proven, %d checked, %d not", report.Commits, report.Proven, report.Checked, report.Unchecked)
	}
	if report.Signed < 5 || report.SignedFrom != "" {
		t.Errorf("%d signed, since %q", report.Signed, report.SignedFrom)
	}
	for _, kind := range []string{audit.AttestedLease, audit.AttestedTest, audit.AttestedWorktree, audit.AttestedSpec} {
		if report.Attested[kind] == 0 {
			t.Errorf("nothing attested of the kind %s", kind)
		}
	}
	report = w.verify(audit.Range{To: testrun.Must(w.store.Ref(w.ctx, importedRef))(t)})
	if len(report.Findings) > 0 || report.Proven != report.Commits || report.Commits < 2 {
		t.Errorf("%s: %d commits, %d proven: %v", importedRef, report.Commits, report.Proven, report.Findings)
	}
	end := slices.IndexFunc(w.steps, func(s step) bool { return s.op.Name() == "abort" })
	for i, s := range w.steps {
		if s.parent.IsZero() || i < end && !testrun.OneIn(40, i) {
			continue
		}
		part := testrun.Must(audit.Verify(w.ctx, w.store, nil, audit.Range{From: s.parent, To: s.commit}, nil))(t)
		if len(part.Findings) > 0 || part.Commits != 1 || part.Proven != 1 {
			t.Errorf("%s alone: %+v", s.op.Name(), part)
		}
	}
	seen := w.marks()
	for _, want := range corpusMarks() {
		if !seen[want] {
			t.Errorf("not in this history: %s", want)
		}
	}
	if t.Failed() {
		t.Log("before the first release: go test ./gitboard/audit -run Corpus -record -replace; after it: a new epoch (specs/decisions.md)")
	}
}

// recorded returns the world of a recorded history. Its steps are those of the board, of
// the board that was aborted, and of the board that was imported.
func recorded(t testing.TB, file string) *world {
	t.Helper()
	repo := testrepo.Bare(t)
	testrun.RunGit(t, repo.CommonDir(), "fetch", "--quiet", testrun.Must(filepath.Abs(file))(t), "refs/*:refs/*")
	w := &world{t: t, ctx: context.Background(), store: repo, log: log.NewReader(repo, "")}
	w.integration = testrun.Must(repo.Ref(w.ctx, integrationRef))(t)
	known := map[plumbing.OID]bool{}
	for _, ref := range []string{plumbing.BoardRef, abortedRef, importedRef} {
		tip, parent := testrun.Must(repo.Ref(w.ctx, ref))(t), plumbing.ZeroOID
		for _, c := range testrun.Must(repo.Log(w.ctx, plumbing.ZeroOID, tip))(t) {
			if !known[c.OID] {
				w.steps = append(w.steps, step{parent, c.OID, w.recordedOperation(c)})
			}
			known[c.OID], parent = true, c.OID
		}
	}
	return w
}

// recordedOperation reads the operation of a commit.
func (w *world) recordedOperation(c plumbing.Commit) board.Operation {
	w.t.Helper()
	h := testrun.Must(codec.ParseHead(c.Message))(w.t)
	file := ""
	if h.Payload == codec.PayloadReference() {
		o := testrun.Must(w.store.Object(w.ctx, string(c.Tree)+":"+codec.PayloadFile))(w.t)
		file = string(o.Data)
	}
	return testrun.Must(h.Operation(file, c.Author))(w.t)
}

// corpusMarks lists what a history of the corpus must contain: every operation, every row of the
// table from each of its states, every event of a task, every effect of the system.
func corpusMarks() []string {
	var want []string
	for _, op := range board.Ops() {
		want = append(want, "op "+op)
	}
	for _, row := range board.Transitions() {
		for _, from := range row.From {
			to := row.To
			if to == board.None {
				to = from
			}
			want = append(want, fmt.Sprintf("%s: %s to %s", row.Op, from, to))
		}
	}
	for _, e := range []string{
		board.EventClaimed, board.EventReclaimed, board.EventReassignedAfterReject, board.EventReclaimedAfterExpiry, board.EventClaimedForFix, board.EventResumed,
	} {
		want = append(want, "claim "+e)
	}
	for _, row := range board.AnomalyTypes {
		want = append(want, "anomaly "+row.Type)
	}
	return append(want, "system hypothesis_exhaustion", "system review_deadlock", "system review_deadlock block", "system iteration limit",
		"system sprint COMPLETED", "system CHECKPOINT", "payload file", "allow_secret", "unblock afresh", "unblock same-coder", "unblock ",
		"reserved", "kept", "lease shown", "superseded dependency", "registered again")
}

// marks returns what happens in the world's history.
func (w *world) marks() map[string]bool {
	w.t.Helper()
	seen, m, last, at := map[string]bool{}, board.NewMemory(), plumbing.ZeroOID, board.Time("")
	for _, s := range w.steps {
		before := board.NewState(m, at)
		if s.parent.IsZero() {
			before = board.NewState(board.NewMemory(), "")
		} else if s.parent != last {
			before = w.snapshot(s.parent).State // another board begins, or this one is aborted
		}
		after, err := board.Step(before, s.op)
		if err != nil {
			w.t.Fatalf("%s: %v", s.op.Name(), err) // verify reports more about it
		}
		_, long, err := codec.Message(before, after, s.op)
		check(w.t, err)
		seen["payload file"] = seen["payload file"] || long != ""
		mark(before, after, s.op, seen)
		if s.parent == last {
			m.Absorb(after)
			last, at = s.commit, s.op.Time
		}
	}
	return seen
}

func mark(before, after *board.State, op board.Operation, seen map[string]bool) {
	seen["op "+op.Name()] = true
	seen["allow_secret"] = seen["allow_secret"] || op.AllowSecret
	if t := after.Task(op.TaskID()); t != nil {
		from := board.None
		if old := before.Task(t.ID); old != nil {
			from = old.Status
		}
		seen[fmt.Sprintf("%s: %s to %s", op.Name(), from, t.Status)] = true
		last := t.History[len(t.History)-1]
		seen["kept"] = seen["kept"] || last.Kept != ""
		seen["reserved"] = seen["reserved"] || t.ReservedFor != ""
		if op.Name() == "claim" {
			seen["claim "+last.Event] = true
		}
		seen["system iteration limit"] = seen["system iteration limit"] || op.Name() == "iteration-limit" && last.Agent == "system"
		seen["system review_deadlock block"] = seen["system review_deadlock block"] || t.BlockedReason == board.ReviewDeadlock
	}
	switch p := op.Payload.(type) {
	case *board.Unblock:
		seen["unblock "+p.Mode] = true
	case *board.Claim:
		seen["lease shown"] = seen["lease shown"] || p.Lease != nil
	case *board.Register:
		seen["registered again"] = seen["registered again"] || before.Agent(op.Actor.ID) != nil
	case *board.Supersede:
		seen["superseded dependency"] = seen["superseded dependency"] || slices.Contains(after.Task(p.By[0]).Supersedes, p.Task) && len(p.By) > 1
	case *board.LogAnomaly:
		seen["anomaly "+p.Type] = true
	}
	for _, r := range after.Changes() {
		switch r := r.(type) {
		case *board.Anomaly:
			seen[r.Reporter+" "+r.Type] = true
		case *board.Sprint:
			if r.Status == board.Completed && op.Name() == "merge" {
				seen["system sprint COMPLETED"] = true
			}
		case *board.Control:
			if r.Mode == board.CheckpointMode && r.By == "system" {
				seen["system CHECKPOINT"] = true
			}
		}
	}
}
