package audit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestInvariants breaks an invariant of the board by an edit of its files. Verify names the commit and
// the file, Validate the record and the field.
func TestInvariants(t *testing.T) {
	w := memoryWorld(t)
	w.everyStatus()
	tip := w.tip()
	here := audit.Here{Leases: map[string]time.Time{"coder-1": w.now.Std()}, Now: w.now.Std()}
	state := w.snapshot(tip).State
	if issues, err := audit.Validate(w.ctx, state, nil, nil, here); err != nil || len(issues) > 0 {
		t.Fatalf("%v %v", issues, err)
	}
	r := *state.Task("t-approved")
	r.ApprovedBy = r.AssignedTo
	data := testrun.Must(codec.Encode(&r))(t)
	const path = "tasks/t-approved.yaml"
	forged := w.forge(forgery{parent: tip, op: noteOf("f"), files: map[string][]byte{path: data}})
	if report := w.caught(t, tip, forged, audit.CodeTree); !strings.Contains(report.Findings[0].Text, path+" differs: line ") {
		t.Errorf("%s", findings(report))
	}
	issues := testrun.Must(audit.Validate(w.ctx, w.snapshot(forged).State, nil, nil, here))(t)
	if !slices.ContainsFunc(issues, func(i audit.Issue) bool {
		return i.Level == audit.Invalid && i.Record == path && i.Field == "approved_by"
	}) {
		t.Errorf("%v", issues)
	}
}

// TestValidateRepository compares a board with its repository.
func TestValidateRepository(t *testing.T) {
	w, repo := gitWorld(t)
	w.begin()
	w.ready("alpha")
	w.ready("beta")
	work := w.approved(coder1, "alpha")
	w.merge("alpha", work)
	w.claim(coder1, "beta")
	now := w.now.Std()
	validate := func(lease time.Time) string {
		t.Helper()
		s := testrun.Must(log.NewReader(repo, "").Tip(w.ctx))(t)
		leases := map[string]time.Time{}
		if !lease.IsZero() {
			leases["coder-1"] = lease
		}
		issues := testrun.Must(audit.Validate(w.ctx, s.State, repo, repo, audit.Here{Clone: "clone-1", Leases: leases, Now: now}))(t)
		var lines []string
		for _, i := range issues {
			lines = append(lines, i.String())
		}
		return strings.Join(lines, "\n")
	}
	expect := func(got, want string) {
		t.Helper()
		testrun.Equal(t, got, want, "got")
	}
	expect(validate(now.Add(time.Minute)), "")
	expect(validate(now.Add(-time.Minute)), "")
	expect(validate(now.Add(-2*time.Minute)), "WARNING: agents/coder-1.yaml: lease_expires: the lease expired 2m0s ago")
	expect(validate(time.Time{}), "INVALID: agents/coder-1.yaml: lease_expires: coder-1 is WORKING without a lease")

	// Integration goes back to a commit without the spec.
	there := w.integration
	w.move(w.project(nil, ada, map[string]string{"main.go": "package main\n"}))
	expect(validate(now), strings.Join([]string{
		"WARNING: goals/goal-1.yaml: spec_ref: specs/vision.md is not a file on the integration branch",
		"INVALID: tasks/alpha.yaml: merge_commit: " + string(there) + " is not on integration",
		"INVALID: tasks/beta.yaml: spec_ref: specs/vision.md is not a file on the integration branch",
	}, "\n"))
	w.move(there)

	tip := w.tip()
	// This record can't be read.
	w.rewind(w.forge(forgery{parent: tip, op: noteOf("f"), files: map[string][]byte{"tasks/beta.yaml": []byte("id: beta\nstatus: [\n")}}))
	if got := validate(now); !strings.HasPrefix(got, "INVALID: tasks/beta.yaml: line ") || strings.Contains(got, "\n") {
		t.Errorf("%s", got)
	}
	// Without settings nobody knows the branch.
	w.rewind(w.forge(forgery{parent: tip, op: noteOf("f"), files: map[string][]byte{board.ConfigPath: nil}}))
	expect(validate(now), "INVALID: config.yaml: it is missing")
	check(t, repo.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: w.tip(), New: tip}, {Ref: integrationRef, Old: there, New: plumbing.ZeroOID}}, ""))
	expect(validate(now), "WARNING: config.yaml: integration_branch: there is no branch integration in this clone")
}

// TestValidateWorktree checks that a task claimed in this clone must have its worktree.
func TestValidateWorktree(t *testing.T) {
	testrepo.Bare(t) // sets the environment
	dir := t.TempDir()
	testrun.InitRepository(t, dir, false)
	repo := testrun.Must(git.Open(t.Context(), dir))(t)
	defer repo.Close()
	w := newWorld(t, repo)
	w.begin()
	w.ready("alpha")
	w.claim(coder1, "alpha")
	validate := func(clone string) []audit.Issue {
		issues := testrun.Must(audit.Validate(w.ctx, w.snapshot(w.tip()).State, repo, repo, audit.Here{Clone: clone, Leases: map[string]time.Time{"coder-1": w.now.Std()}, Now: w.now.Std()}))(t)
		return issues
	}
	if issues := validate("clone-1"); len(issues) != 1 || issues[0].String() != "INVALID: tasks/alpha.yaml: worktree: .worktrees/alpha does not exist" {
		t.Errorf("%v", issues)
	}
	if issues := validate("clone-2"); len(issues) != 0 {
		t.Errorf("%v", issues)
	}
	check(t, repo.Worktree(dir+"/.worktrees/alpha").Add(w.ctx, w.integration))
	if issues := validate("clone-1"); len(issues) != 0 {
		t.Errorf("%v", issues)
	}
	check(t, os.RemoveAll(dir+"/.worktrees/alpha"))
	if issues := validate("clone-1"); len(issues) != 1 {
		t.Errorf("its directory is gone: %v", issues)
	}
	w.preExec(coder1, "alpha")
	w.submit(coder1, "alpha")
	if issues := validate("clone-1"); len(issues) != 0 {
		t.Errorf("it is needed no more: %v", issues)
	}
}

// TestWordsOfFindings checks what is reported of trees that are not those of their operations, and of
// histories that are none.
func TestWordsOfFindings(t *testing.T) {
	w := memoryWorld(t)
	w.begin()
	at := w.tip()
	many := map[string][]byte{}
	for n := range 25 {
		many[fmt.Sprintf("x%02d", n)] = []byte("x")
	}
	none := plumbing.OID(strings.Repeat("a", 40))
	lost := func(path string, oid plumbing.OID) func(map[string]plumbing.TreeEntry) {
		return func(entries map[string]plumbing.TreeEntry) {
			e := entries[path]
			e.OID = oid
			entries[path] = e
		}
	}
	root := func(data func([]plumbing.TreeEntry) []byte) func(*plumbing.Commit) {
		return func(c *plumbing.Commit) {
			o := testrun.Must(w.store.Object(w.ctx, string(c.Tree)))(t)
			entries := testrun.Must(plumbing.DecodeTree(o.Data))(t)
			o = plumbing.NewObject(plumbing.TreeObject, data(entries))
			check(t, w.store.WriteObjects(w.ctx, []plumbing.Object{o}))
			c.Tree = o.OID
		}
	}
	for name, c := range map[string]struct {
		f    forgery
		says []string
	}{
		"many files":               {forgery{op: noteOf("f"), files: many}, []string{"x00 should not be there", "x19 should not be there; and 5 more"}},
		"a file's content is gone": {forgery{op: noteOf("f"), entries: lost("sprint.yaml", none)}, []string{"sprint.yaml lacks its content"}},
		"a tree in another order": {forgery{op: noteOf("f"), commit: root(func(entries []plumbing.TreeEntry) (data []byte) {
			for _, e := range slices.Backward(entries) {
				data = append(data, plumbing.EncodeTree([]plumbing.TreeEntry{e})...)
			}
			return data
		})}, []string{"the same files in other bytes"}},
	} {
		c.f.parent = at
		report := testrun.Must(audit.Verify(w.ctx, w.store, nil, audit.Range{To: w.forge(c.f)}, nil))(t)
		text := findings(report)
		for _, says := range c.says {
			if !strings.Contains(text, says) {
				t.Errorf("%s: %q is not in\n%s", name, says, text)
			}
		}
	}
	bad := plumbing.NewObject(plumbing.CommitObject, []byte("no commit"))
	check(t, w.store.WriteObjects(w.ctx, []plumbing.Object{bad}))
	onBad := w.forge(forgery{parent: at, op: noteOf("f"), commit: func(c *plumbing.Commit) { c.Parents = []plumbing.OID{bad.OID} }})
	report := testrun.Must(audit.Verify(w.ctx, w.store, nil, audit.Range{To: onBad}, nil))(t)
	if text := findings(report); !strings.Contains(text, "it is not a commit") || strings.Contains(text, "cut off here") {
		t.Errorf("on an object that is no commit:\n%s", text)
	}
	if report, err := audit.Verify(w.ctx, w.store, nil, audit.Range{To: none}, nil); err == nil {
		t.Errorf("a commit that is not here has a history: %+v", report)
	}
}

// TestTooLarge checks that an operation whose record would be too large is wrong, though none of its
// texts is.
func TestTooLarge(t *testing.T) {
	w := memoryWorld(t)
	w.begin()
	details := map[string]board.Scalar{"count": "3", "error_pattern": "x"}
	for n := range 4 {
		details[fmt.Sprint("log", n)] = board.Scalar(strings.Repeat("x\n", board.MaxText/2))
	}
	tip := w.tip()
	op := board.Operation{Actor: coder1, Request: "f", Payload: &board.LogAnomaly{Type: "retry_loop", Details: details}}
	report := w.caught(t, tip, w.forge(forgery{parent: tip, op: op}), board.CodeInvalid)
	testrun.Contains(t, findings(report), "a record may have", "the value")
}

// TestClockOfTheReceiver checks that a lease that was still held by the receiver's clock is not
// taken over, whatever the operation says.
func TestClockOfTheReceiver(t *testing.T) {
	w, repo := gitWorld(t)
	w.begin()
	w.ready("alpha")
	w.claim(coder1, "alpha")
	from := w.tip()
	w.now = w.now.Add(time.Hour)
	to := w.do(coder2, &board.Claim{About: about("alpha"), Clone: "clone-1", BaseCommit: string(w.integration), Evidence: w.lapsed("coder-1")})
	for clock, want := range map[board.Time]board.ErrorCode{"": "", w.now: "", w.now.Add(-2 * time.Minute): board.CodeWrongState} {
		push := testrun.Must(audit.Examine(w.ctx, repo, log.NewReader(repo, ""), audit.Range{From: from, To: to, Clock: clock}, w.integration))(t)
		if push.OK() != (want == "") || want != "" && push.Findings[0].Code != want {
			t.Errorf("at %q: %s", clock, texts(push.Findings))
		}
	}
}

// TestRequestBeforeTheRange checks that a request of a range is known from before it.
func TestRequestBeforeTheRange(t *testing.T) {
	w, _ := gitWorld(t)
	w.begin()
	first := w.tip()
	from := w.do(ada, &board.AddNote{Message: "one"})
	again := noteOf("again")
	again.Request = w.steps[len(w.steps)-2].op.Request
	report := w.verify(audit.Range{From: from, To: w.forge(forgery{parent: from, op: again})})
	testrun.Contains(t, findings(report), "was carried out before, by "+first.Short(), "the value")
}

// TestValidateConditions checks which of a board's references are looked up in the repository, and
// how bad it is if there is nothing.
func TestValidateConditions(t *testing.T) {
	w, repo := gitWorld(t)
	w.begin()
	w.ready("alpha")
	w.claim(coder1, "alpha")
	bad := strings.Repeat("a", 40)
	blob := w.specOID()
	shallow := filepath.Join(repo.CommonDir(), "shallow")
	for name, c := range map[string]struct {
		change func(s *board.State, task *board.Task)
		here   audit.Here
		want   string
	}{
		"as it is":                   {func(*board.State, *board.Task) {}, audit.Here{}, ""},
		"no spec":                    {func(_ *board.State, t *board.Task) { t.SpecRef = "#part" }, audit.Here{}, ""},
		"a spec that is not there":   {func(_ *board.State, t *board.Task) { t.SpecRef = "gone.md" }, audit.Here{}, "INVALID: tasks/alpha.yaml: spec_ref: gone.md is not a file on the integration branch"},
		"specs are not looked for":   {func(_ *board.State, t *board.Task) { t.SpecRef = "gone.md" }, audit.Here{NoSpecFiles: true}, ""},
		"one that nobody looked for": {func(_ *board.State, t *board.Task) { t.SpecRef, t.SpecOID = "gone.md", "" }, audit.Here{}, "WARNING: tasks/alpha.yaml: spec_ref: gone.md is not a file on the integration branch"},
		"one that was imported":      {func(_ *board.State, t *board.Task) { t.SpecRef = "gone.md"; imported(t) }, audit.Here{}, "WARNING: tasks/alpha.yaml: spec_ref: gone.md is not a file on the integration branch"},
		"a commit that is not there": {func(_ *board.State, t *board.Task) { t.BaseCommit = bad }, audit.Here{}, "INVALID: tasks/alpha.yaml: base_commit: there is no commit " + bad + " here"},
		"one of a shallow clone":     {func(_ *board.State, t *board.Task) { t.BaseCommit = bad; check(w.t, os.WriteFile(shallow, nil, 0o644)) }, audit.Here{}, "WARNING: tasks/alpha.yaml: base_commit: there is no commit " + bad + " here"},
		"one of an imported task":    {func(_ *board.State, t *board.Task) { t.BaseCommit = bad; imported(t) }, audit.Here{}, "WARNING: tasks/alpha.yaml: base_commit: there is no commit " + bad + " here"},
		"one of another clone":       {func(_ *board.State, t *board.Task) { t.BaseCommit, t.Clone = bad, "clone-2" }, audit.Here{}, "WARNING: tasks/alpha.yaml: base_commit: there is no commit " + bad + " here"},
		"one of no clone":            {func(_ *board.State, t *board.Task) { t.BaseCommit, t.Clone = bad, "" }, audit.Here{}, "INVALID: tasks/alpha.yaml: base_commit: there is no commit " + bad + " here"},
		"a base that has landed": {func(_ *board.State, t *board.Task) {
			t.Status, t.BaseCommit, t.MergeCommit, t.Worktree = board.Merged, bad, string(w.integration), ""
			imported(t)
		}, audit.Here{}, "WARNING: tasks/alpha.yaml: base_commit: there is no commit " + bad + " here"},
		"a file instead of a commit": {func(_ *board.State, t *board.Task) { t.BaseCommit = blob }, audit.Here{}, "INVALID: tasks/alpha.yaml: base_commit: there is no commit " + blob + " here"},
		"a draft's spec may be coming": {func(s *board.State, t *board.Task) {
			t.Status, t.SpecRef, t.AssignedTo, t.BaseCommit = board.Draft, "gone.md", "", ""
		}, audit.Here{}, ""},
		"an ended goal's spec": {func(s *board.State, _ *board.Task) {
			g := *s.Goal("goal-1")
			g.Status, g.SpecRef, g.Ended = board.Completed, "gone.md", w.now
			s.Changes()[board.GoalPath("goal-1")] = &g
		}, audit.Here{}, ""},
		"a running goal's spec": {func(s *board.State, _ *board.Task) {
			g := *s.Goal("goal-1")
			g.SpecRef = "gone.md"
			s.Changes()[board.GoalPath("goal-1")] = &g
		}, audit.Here{}, "WARNING: goals/goal-1.yaml: spec_ref: gone.md is not a file on the integration branch"},
	} {
		state := w.snapshot(w.tip()).State
		task := *state.Task("alpha")
		task.History = slices.Clone(task.History)
		c.change(state, &task)
		state.Changes()["tasks/alpha.yaml"] = &task
		c.here.Clone, c.here.Now, c.here.Leases = "clone-1", w.now.Std(), map[string]time.Time{"coder-1": w.now.Std()}
		issues := testrun.Must(audit.Validate(w.ctx, state, repo, repo, c.here))(t)
		var lines []string
		for _, i := range issues {
			lines = append(lines, i.String())
		}
		testrun.Equal(t, strings.Join(lines, "\n"), c.want, "%s:", name)
		check(t, os.RemoveAll(shallow))
	}
}

func imported(t *board.Task) { t.History = append(t.History, board.Event{Event: board.EventImported}) }
