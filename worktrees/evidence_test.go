package worktrees_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/worktrees"
)

func TestSubmitEvidence(t *testing.T) {
	s := newScene(t, ready("one"))
	submit := func(commit string) error {
		_, _, err := worktrees.Submit(s.ctx, s.b, worktrees.SubmitRequest{Request: gitboard.Request{Actor: s.as("coder-1")}, Task: "one", Commit: commit})
		return err
	}
	s.refused(submit(""), "wrong-state", "one is UNCLAIMED")
	path := s.claim("coder-1", "one").Path
	s.preExec("coder-1", "one")
	s.refused(submit(""), "empty", "no commit beyond its base")
	for _, name := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		s.write(path, name, name)
	}
	s.refused(submit(""), "dirty", "1, 2, 3, 4, 5 and 2 more | commit or remove them")
	first := s.commitAll(path, "first")
	second := s.work("one", "b.txt", "b\n")
	s.refused(submit(string(first)), "stale", "task/one is at "+second.Short()+", not at "+first.Short())
	s.refused(submit("nonsense"), "stale", `"nonsense" is not a commit here`)
	s.refused(submit("-x"), "stale", "not a commit")

	s.git(path, "checkout", "-q", "--detach")
	s.refused(submit(""), "stale", ".worktrees/one is on a detached HEAD, not on task/one")
	s.git(path, "checkout", "-q", "task/one")

	// A merge whose conflict was resolved without any change is still unfinished.
	s.git(path, "checkout", "-q", "-b", "other", string(first))
	s.write(path, "b.txt", "other\n")
	s.commitAll(path, "other")
	s.git(path, "checkout", "-q", "task/one")
	s.git(path, "merge", "-q", "--no-commit", "-s", "ours", "other")
	s.refused(submit(""), "dirty", "git merge is not finished")
	s.git(path, "merge", "--abort")

	// A refusal because of the actor comes before one because of the evidence.
	s.write(path, "dirt", "x")
	_, _, err := worktrees.Submit(s.ctx, s.b, worktrees.SubmitRequest{Request: gitboard.Request{Actor: s.as("coder-2")}, Task: "one"})
	s.refused(err, "permission", "not held by coder-2")
	s.check(os.Remove(path + "/dirt"))

	s.check(os.Rename(path, path+"-away"))
	s.refused(submit(""), "missing", "git liza worktree create one")
	s.check(os.Rename(path+"-away", path))

	s.check(submit(string(second[:7])))
	done := s.is("one", board.ReadyForReview)
	if done.ReviewCommit != string(second) || done.ReviewBase != done.BaseCommit {
		t.Errorf("submitted %+v", done)
	}
}

func TestSubmitTests(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	s.write(s.path("one"), "b.txt", "b\n")
	s.commitAll(s.path("one"), "without a test"+s.trailers("one"))
	request := worktrees.SubmitRequest{Request: gitboard.Request{Actor: s.as("coder-1")}, Task: "one"}
	_, _, err := worktrees.Submit(s.ctx, s.b, request)
	s.refused(err, "tests", "nothing that it changes is a test")
	s.set("require_tests", "warn")
	done, warnings, err := worktrees.Submit(s.ctx, s.b, request)
	s.check(err)
	if len(warnings) != 1 || !contains(warnings[0], "nothing that it changes is a test") {
		t.Errorf("warnings %q", warnings)
	}
	p := done.Op.Payload.(*board.Submit)
	if p.Commits != 1 || p.Files != 1 || len(p.Tests) != 0 {
		t.Errorf("payload %+v", p)
	}
	_, err = s.b.Do(s.ctx, gitboard.Request{Actor: s.as("coder-1")}, gitboard.Just(&board.Withdraw{About: about("one")}))
	s.check(err)
	for _, name := range []string{"tests/x", "tests/bad\tname", "b_test.go", "tests/" + strings.Repeat("é", 50)} {
		s.write(s.path("one"), name, "x")
	}
	for i := range 20 {
		s.write(s.path("one"), "tests/z"+strings.Repeat("z", i), "x")
	}
	s.commitAll(s.path("one"), "tests")
	done, _, err = worktrees.Submit(s.ctx, s.b, request)
	s.check(err)
	p = done.Op.Payload.(*board.Submit)
	if p.Commits != 2 || p.Files != 25 || len(p.Tests) != 20 || !slices.Contains(p.Tests, "tests/x") || slices.Contains(p.Tests, "tests/bad\tname") {
		t.Errorf("payload %+v", p)
	}
	if s.ref("refs/liza/review/one/1") == s.ref("refs/liza/review/one/2") {
		t.Error("a submission is not kept")
	}
}

// TestSubmitAfterCrash covers a crash after only the first refs of a submission had moved.
func TestSubmitAfterCrash(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	stray := s.work("one", "b.txt", "b\n")
	s.git(s.dir, "update-ref", "refs/liza/review/one/1", string(stray))
	s.git(s.path("one"), "commit", "-q", "--amend", "-m", "another"+s.trailers("one"))
	commit := s.submit("coder-1", "one")
	if s.ref("refs/liza/review/one/1") != commit || s.attic("one")[0] != stray {
		t.Error("a commit is lost")
	}
}

func TestVerdictEvidence(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	commit := s.work("one", "b.txt", "b\n")
	s.submit("coder-1", "one")
	verdict := func(word, commit, reason string) error {
		_, err := worktrees.Verdict(s.ctx, s.b, worktrees.VerdictRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1")}, Task: "one", Verdict: word, Checked: "tests", Commit: commit, Reason: reason})
		return err
	}
	approve := func(commit string) error { return verdict(board.VerdictApproved, commit, "") }
	s.refused(approve(string(commit)), "wrong-state", "nobody has claimed the review")
	s.do(s.as("code-reviewer-1"), &board.ClaimReview{About: about("one")})
	s.refused(approve("main"), "stale", "was submitted at "+commit.Short())
	s.refused(approve(""), "stale", "not a commit")
	s.write(s.path("one"), "b.txt", "changed\n")
	s.refused(approve(string(commit)), "dirty", "b.txt")
	s.commitAll(s.path("one"), "behind the reviewer's back")
	s.refused(approve(string(commit)), "stale", "not at the submitted "+commit.Short())
	s.check(os.RemoveAll(s.path("one")))
	s.refused(approve(string(commit)), "stale", "task/one is at")

	// A reviewer can reject nevertheless.
	r := board.Rejection{Blockers: []board.Finding{{Where: "b.txt:1", Issue: "i", Why: "w", Suggestion: "s"}}, Overall: "No.", Spec: "n/a", Anomaly: "none"}
	s.check(verdict(board.VerdictRejected, string(commit[:12]), r.Text()))
	s.is("one", board.Rejected)
	got := s.claim("coder-1", "one")
	if s.read(got.Path, "b.txt") != "changed\n" {
		t.Error("work is lost")
	}
}

// TestVerdictWithoutBranch checks that a submission can be approved where its branch and its worktree
// are gone: its commit is kept.
func TestVerdictWithoutBranch(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	s.work("one", "b.txt", "b\n")
	s.submit("coder-1", "one")
	s.git(s.dir, "worktree", "remove", s.path("one"))
	s.git(s.dir, "update-ref", "-d", taskRef("one"))
	s.verdict("code-reviewer-1", "one", board.VerdictApproved)
	s.is("one", board.Approved)
	if !s.ref(taskRef("one")).IsZero() {
		t.Error("the verdict has made a branch")
	}
}

func TestStatus(t *testing.T) {
	s := newScene(t, ready("one"), ready("other"))
	path := s.claim("coder-1", "one").Path
	status := func() *worktrees.Status {
		t.Helper()
		st, err := worktrees.StatusOf(s.ctx, s.b, "one")
		s.check(err)
		return st
	}
	if st := status(); !st.Exists || st.Path != path || st.Branch != "task/one" || st.Ahead+st.Behind != 0 || st.Advice != "it has all of integration" {
		t.Errorf("status %+v", st)
	}
	s.approved("coder-2", "other", "a.txt", "ONE\ntwo\nthree\n")
	s.merge("other")
	if st := status(); st.Behind != 1 || len(st.BothTouched) > 0 || !contains(st.Advice, "bring it in") {
		t.Errorf("status %+v", st)
	}
	s.write(path, "a.txt", "one\ntwo\nTHREE\n")
	if st := status(); !slices.Equal(st.Dirty, []string{"a.txt"}) || !slices.Equal(st.BothTouched, []string{"a.txt"}) || !contains(st.Advice, "overlaps") {
		t.Errorf("status %+v", st)
	}
	s.write(path, "a.txt", "zero\ntwo\nthree\n")
	s.commitAll(path, "conflict")
	if st := status(); st.Ahead != 1 || !slices.Equal(st.WouldConflict, []string{"a.txt"}) || !slices.Equal(st.BothTouched, []string{"a.txt"}) {
		t.Errorf("status %+v", st)
	}
	s.check(os.RemoveAll(path))
	if st := status(); st.Exists || st.Ahead != 1 {
		t.Errorf("status %+v", st)
	}
	list, err := worktrees.List(s.ctx, s.b)
	s.check(err)
	if len(list) != 1 || list[0].Task != "one" || list[0].Exists || list[0].Status != board.Claimed {
		t.Errorf("list %+v", list)
	}
	s.mended("missing-worktree")
	list, err = worktrees.List(s.ctx, s.b)
	s.check(err)
	if len(list) != 1 || !list[0].Exists || list[0].Branch != "task/one" {
		t.Errorf("list %+v", list)
	}
	if st, err := worktrees.StatusOf(s.ctx, s.b, "other"); err != nil || st.Exists || !contains(st.Advice, "no work here") {
		t.Errorf("status %+v %v", st, err)
	}
}

// TestStatusOfAFix checks that a coder who makes work fit for integration is told to merge what came
// to it meanwhile.
func TestStatusOfAFix(t *testing.T) {
	s := newScene(t, ready("one"), approved("coder-1", "one", "a.txt", "ONE\ntwo\nthree\n"), ready("other"), approved("coder-2", "other", "a.txt", "1\ntwo\nthree\n"))
	s.merge("other")
	if r := s.merge("one"); r.Merged {
		t.Fatal("there is no conflict")
	}
	path := s.claim("coder-1", "one").Path
	s.write(path, "a.txt", "1 ONE\ntwo\nthree\n")
	s.commitAll(path, "both"+s.trailers("one"))
	for _, want := range []string{"it has all of integration", "this work is to have all of integration: git merge integration in the worktree"} {
		st, err := worktrees.StatusOf(s.ctx, s.b, "one")
		s.check(err)
		if !contains(st.Advice, want) {
			t.Errorf("the advice is %q, not %q", st.Advice, want)
		}
		moved.do(s)
	}
}

// TestSubmitAfterMerge checks that work into which integration was merged is submitted against what
// was merged, and that nothing is submitted if that can't be read.
func TestSubmitAfterMerge(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	s.work("one", "b.txt", "b\n")
	moved.do(s)
	s.git(s.path("one"), "merge", "-q", "--no-ff", "-m", "integration"+s.trailers("one"), "integration")
	s.insist(func(ctx context.Context) error {
		_, _, err := worktrees.Submit(ctx, s.b, worktrees.SubmitRequest{Request: gitboard.Request{Actor: s.as("coder-1")}, Task: "one"})
		return err
	})
	if got := s.is("one", board.ReadyForReview).ReviewBase; got != string(s.ref("refs/heads/integration")) {
		t.Errorf("it is compared with %s", got)
	}
}

// TestCopiedRepository checks that a copy of a repository (cp -r) changes no worktree of the original.
func TestCopiedRepository(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"))
	s.write(s.path("one"), "work.txt", "w\n")
	dir := filepath.Join(t.TempDir(), "copy")
	s.check(os.CopyFS(dir, os.DirFS(s.dir)))
	b := s.openAt(dir)
	s.refused(worktrees.Repair(s.ctx, b), board.CodeElsewhere, "this is a copy of "+s.b.Repo().CommonDir())
	s.check(os.RemoveAll(filepath.Join(dir, ".worktrees", "one")))
	_, err := worktrees.Create(s.ctx, b, "one", nil)
	s.refused(err, board.CodeElsewhere, "this is a copy of "+s.b.Repo().CommonDir())
	if s.read(s.path("one"), "work.txt") != "w\n" || !s.b.Repo().Records().Owns(s.path("one")) {
		t.Error("the original's worktree was changed")
	}
}

// by returns the actor that asks for a fresh worktree.
func by(a board.Actor) *board.Actor { return &a }

func TestCreateAndDelete(t *testing.T) {
	s := newScene(t, ready("one"))
	_, err := worktrees.Create(s.ctx, s.b, "one", nil)
	s.refused(err, "wrong-state", "it has no worktree")
	s.claim("coder-1", "one")
	old := s.dirtied("one")
	path, err := worktrees.Create(s.ctx, s.b, "one", nil)
	s.check(err)
	if s.read(path, "a.txt") != "edited\n" {
		t.Error("it was touched")
	}
	for _, other := range []string{"coder-2", "code-reviewer-1"} {
		_, err = worktrees.Create(s.ctx, s.b, "one", by(s.as(other)))
		s.refused(err, "permission", "coder-1 holds one, and "+other+" would replace its worktree")
	}
	if s.read(path, "a.txt") != "edited\n" {
		t.Error("it was replaced")
	}
	_, err = worktrees.Create(s.ctx, s.b, "one", by(s.as("planner-1")))
	s.check(err)
	if s.read(path, "a.txt") != "committed\n" || s.ref(taskRef("one")) != old || s.file(s.attic("one")[0], "a.txt") != "edited\n" {
		t.Error("it is not fresh")
	}
	s.refused(worktrees.Delete(s.ctx, s.b, human(), "one"), "wrong-state", "needs BLOCKED")
	s.do(human(), &board.Block{About: about("one"), Reason: "stop"})
	s.refused(worktrees.Delete(s.ctx, s.b, s.as("coder-1"), "one"), "permission", "not for a coder")
	s.write(path, "b.txt", "b\n")
	s.check(worktrees.Delete(s.ctx, s.b, human(), "one"))
	s.lies()
	if kept := s.attic("one"); len(kept) != 2 || s.file(kept[1], "b.txt") != "b\n" || s.ref(taskRef("one")) != old {
		t.Errorf("kept %v", kept)
	}
	_, err = worktrees.End(s.ctx, s.b, gitboard.Request{Actor: human()}, &board.Unblock{About: board.About{Task: "one"}, Mode: board.UnblockKeepWork})
	s.check(err)
	if got := s.claim("coder-1", "one"); s.read(got.Path, "a.txt") != "committed\n" {
		t.Error("the kept work is gone")
	}
	// A finished task gets no worktree, and doctor removes a merge's leftovers.
	s.task("never")
	s.abandons("never")
	_, err = worktrees.Create(s.ctx, s.b, "never", nil)
	s.refused(err, "wrong-state", "never is ABANDONED: it has no worktree | ")
	s.task("other")
	s.approved("coder-2", "other", "c.txt", "c\n")
	s.merge("other")
	s.refused(worktrees.Delete(s.ctx, s.b, human(), "other"), "wrong-state", "git liza doctor --fix takes away what a merge has left")
}

// TestRepair checks that Repair updates git's records after the project directory was moved.
func TestRepair(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"), claimed("coder-2", "two"))
	s.check(os.RemoveAll(s.path("two")))
	s.check(s.b.Close())
	moved := s.dir + " moved"
	s.check(os.Rename(s.dir, moved))
	s.dir = moved
	s.b = s.open()
	s.write(s.path("notes"), "a.txt", "a person's\n") // is nothing to repair
	s.check(worktrees.Repair(s.ctx, s.b))
	s.check(os.RemoveAll(s.path("notes")))
	s.lies("one")
	s.preExec("coder-1", "one")
	s.work("one", "b.txt", "b\n")
	s.submit("coder-1", "one")
	s.mended("missing-worktree")
}
