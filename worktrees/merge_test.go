package worktrees_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/merge"
)

func (s *scene) mergeErr(task string) error {
	s.t.Helper()
	got, err := mergeOne(s.ctx, s.b, merge.TrainRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1")}, Tasks: []string{task}})
	if err == nil {
		s.t.Fatalf("merged: %+v", got)
	}
	return err
}

// TestFailingTest covers a test that fails each time it is run, which is blamed on the task, and an
// integration fix without a conflict: the claim merges integration into the task branch at once, with
// the coder as author.
func TestFailingTest(t *testing.T) {
	s := newScene(t, twoApproved()...)
	s.set("integration_test", `echo "testing $LIZA_TASK $LIZA_MERGE_COMMIT in $(basename "$PWD")"; env | grep -c '^GIT_DIR='; test ! -e b.txt || { printf 'caf\303\251 \033[31mred\033[0m \377\n'; exit 7; }`)
	s.set("integration_test_retry", "1")
	var out bytes.Buffer
	got, err := mergeOne(s.ctx, s.b, merge.TrainRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1")}, Tasks: []string{"one"}, Out: &out})
	s.check(err)
	if got.Merged || got.Failure != board.FailTest || !contains(got.Log, "café [31mred[0m \ufffd\n[the integration test failed (exit 7)]") {
		t.Errorf("merged %+v", got)
	}
	review := s.state().Task("one").ReviewCommit
	if !contains(out.String(), "testing one "+review+" in .integration\n0\n") || !contains(s.read(s.b.Dir(), "logs/merge-one.log"), "testing one") {
		t.Errorf("output %q", out.String())
	}
	if n := strings.Count(out.String(), "testing one"); n != 2 || len(s.state().List(board.AnomalyDir)) > 0 {
		t.Errorf("it is run %d times, or called flaky", n)
	}
	if e := s.is("one", board.IntegrationFailed).Last(board.EventIntegrationFailed); e.Log != got.Log || e.Reason != board.FailTest {
		t.Errorf("event %+v", e)
	}
	s.merge("two")
	s.lies("one")

	fix := s.claim("coder-2", "one")
	if !fix.Kind.Fix || len(fix.Conflicts) > 0 || s.read(fix.Path, "c.txt") != "c\n" || len(fix.Warnings) > 0 {
		t.Errorf("claimed %+v", fix)
	}
	testrun.Equal(t, s.git(fix.Path, "log", "-1", "--format=%an %s"), "coder-2 Merge integration into task/one", "the merge is")
}

// TestNothingAboveTheTest checks that a test finds no files of the main worktree by looking upwards,
// and that its failure names them and the settings that bring them.
func TestNothingAboveTheTest(t *testing.T) {
	s := newScene(t, ready("one"), ready("two"), approved("coder-1", "one", "a.txt", "ONE\ntwo\nthree\n"))
	s.check(s.b.Repo().Settings().Exclude("/node_modules/"))
	s.write(s.dir, "node_modules/dep.js", "found\n")
	s.claim("coder-2", "two")
	if said := strings.Join(s.b.TakeMentions(), "\n"); !contains(said, "may find node_modules of the project's root") {
		t.Errorf("the claim mentions %q", said)
	}
	s.set("integration_test", `d=$PWD; while [ "$d" != / ]; do [ ! -e "$d/node_modules" ] || exit 0; d=$(dirname "$d"); done; exit 1`)
	got := s.merge("one")
	if got.Merged || !contains(got.Log, "node_modules of the project's root") || !contains(got.Log, "worktree_copy") {
		t.Errorf("merged %+v", got)
	}
}

// TestIncompleteLanding checks that a human's commit does not land while a part of it is missing.
func TestIncompleteLanding(t *testing.T) {
	s := newScene(t)
	side := filepath.Join(t.TempDir(), "side")
	s.git(s.dir, "worktree", "add", "-q", "-b", "side", side, "integration")
	s.write(side, "c.txt", "c\n")
	s.commitAll(side, "a human's")
	s.write(side, "b.txt", "b\n")
	s.commitAll(side, "a human's, too")
	integration := s.ref("refs/heads/integration")
	s.loses("side~1")
	for _, files := range [][]string{nil, {"c.txt"}} {
		_, err := merge.Land(s.ctx, s.b, merge.LandRequest{Request: gitboard.Request{Actor: human()}, Commit: "side", Files: files})
		s.refused(err, board.CodeMissing, "can't land: objects of the history of")
	}
	testrun.Equal(t, s.ref("refs/heads/integration"), integration, "integration moved to")
}

// TestSlowTest checks that a test ends when its time is over, however little it has done by then.
func TestSlowTest(t *testing.T) {
	s := newScene(t, ready("one"), approved("coder-1", "one", "scripts/integration-test.sh", "echo begun\nsleep 300 & wait\n"))
	s.set("integration_test_timeout", "1")
	got := s.merge("one")
	if got.Failure != board.FailTest || !strings.HasSuffix(got.Log, "\n[the integration test took longer than 1s]") {
		t.Errorf("merged %+v", got)
	}
}

// TestSecretInLog checks that a failure is recorded even if the test's output contains a secret.
func TestSecretInLog(t *testing.T) {
	s := newScene(t, ready("one"), approved("coder-1", "one", "b.txt", "b\n"))
	token := "ghp_" + strings.Repeat("a1", 20)
	s.set("integration_test", "for i in 1 2 3 4 5 6 7 8 9; do head -c 900 /dev/zero | tr '\\0' x; echo; done; printf 'ghp_%s\\n' "+strings.Repeat("a1", 20)+"; exit 1")
	got := s.merge("one")
	e := s.is("one", board.IntegrationFailed).Last(board.EventIntegrationFailed)
	if !contains(got.Log, token) || len(got.Log) > 4096 || contains(e.Log, token) || !contains(e.Log, "merge-one.log") {
		t.Errorf("log %q", e.Log)
	}
}

// TestHalfMerge covers a crash after integration moved and before the board did, for each way to
// land.
func TestHalfMerge(t *testing.T) {
	s := newTrain(t, 3, nil)
	s.moved = true
	s.git(s.dir, "checkout", "-q", "integration")
	first := plumbing.OID(s.state().Task("t1").ReviewCommit)
	half := func(commit plumbing.OID) {
		s.t.Helper()
		s.announces(commit)
		s.git(s.dir, "update-ref", "refs/heads/integration", string(commit))
	}
	half(first)
	s.mended("behind-checkout", "half-merge")
	if m := s.is("t1", board.Merged); m.MergeCommit != string(first) || m.Last(board.EventMerged).MergeType != board.FastForward {
		t.Errorf("finished as %+v", m)
	}
	if s.git(s.dir, "status", "--porcelain") != " M mine.txt\n?? untracked" || s.read(s.dir, "t1.txt") != "t1\n" {
		t.Error("the checkout was not brought forward")
	}

	// A merge first finishes the half-done merge of its own task.
	side := filepath.Join(t.TempDir(), "side")
	s.git(s.dir, "worktree", "add", "-q", "--detach", side, "integration")
	s.git(side, "merge", "-q", "--no-ff", "-m", "Merge task t2", "task/t2")
	second := plumbing.OID(s.git(side, "rev-parse", "HEAD"))
	half(second)
	got := s.merge("t2")
	if !got.Merged || got.Commit != second || got.Type != board.MergeCommitType || len(got.BroughtForward) != 1 {
		t.Errorf("merged %+v", got)
	}
	if p, is := got.Done.Op.Payload.(*board.FinishMerge); !is || p.Drift != 1 {
		t.Errorf("payload %+v", got.Done.Op.Payload)
	}

	// Integration has moved again since.
	s.git(side, "merge", "-q", "--no-ff", "-m", "Merge task t3", "task/t3")
	third := plumbing.OID(s.git(side, "rev-parse", "HEAD"))
	s.git(side, "commit", "-q", "--allow-empty", "-m", "later")
	s.git(side, "commit", "-q", "--allow-empty", "-m", "later still")
	half(plumbing.OID(s.git(side, "rev-parse", "HEAD")))
	finished := testrun.Must(merge.Finish(s.ctx, s.b, s.as("planner-1")))(s.t)
	if len(finished) != 1 || finished[0].Commit != third || finished[0].Type != board.MergeCommitType {
		t.Errorf("finished %+v", finished)
	}
	if finished, err := merge.Finish(s.ctx, s.b, s.as("planner-1")); err != nil || len(finished) > 0 {
		t.Errorf("finished again %+v %v", finished, err)
	}
	s.lies()
}

// TestChangesOfAHuman checks that a human's staged or unfinished changes in a checkout of
// integration are not taken for a killed merge's leftovers.
func TestChangesOfAHuman(t *testing.T) {
	s := newScene(t, ready("one"), ready("two"), approved("coder-1", "one", "b.txt", "b\n"))
	s.moved = true
	s.git(s.dir, "checkout", "-q", "integration")
	s.merge("one")
	s.git(s.dir, "rm", "-q", "b.txt") // as git revert -n does
	s.reports()
	testrun.Contains(t, s.git(s.dir, "status", "--porcelain"), "D  b.txt", "a staged change was lost")
	s.git(s.dir, "reset", "-q", "HEAD", "b.txt")
	s.git(s.dir, "checkout", "-q", "b.txt")
	s.approved("coder-2", "two", "a.txt", "one\ntwo\nthree\nfour\n")
	s.write(s.dir, "a.txt", "one\n") // the beginning of what will be there
	s.refused(s.mergeErr("two"), board.CodeOverlap, "")
	testrun.Equal(t, s.read(s.dir, "a.txt"), "one\n", "a human's change is gone")
}

// announces records as a merge does that the main worktree is to follow integration to a commit. The
// process of the merge has ended.
func (s *scene) announces(commit plumbing.OID) {
	s.t.Helper()
	process := strings.Fields(string(proc.This()))
	process[0] = strconv.Itoa(s.dead())
	s.check(s.b.Clone().KeepFlushed("forward/"+commit.Short(), fmt.Sprintf("%s %s\n%s\n%s\n%s", s.ref("refs/heads/integration"), commit, strings.Join(process, " "), board.At(s.clock.now()), s.dir)))
}

// TestFinishHoldsIntegration checks that a merge is finished only if integration is still where the
// work was found.
func TestFinishHoldsIntegration(t *testing.T) {
	s := newScene(t, ready("one"), approved("coder-1", "one", "b.txt", "b\n"))
	base, review := s.ref("refs/heads/integration"), s.state().Task("one").ReviewCommit
	reached := false
	// Take integration back at the nth reading of the clock.
	for nth := 1; nth == 1 || reached; nth++ {
		s.git(s.dir, "update-ref", "refs/heads/integration", review)
		on, reads := s.ref("refs/heads/liza/state"), 0
		reached = false
		b, err := gitboard.Open(s.ctx, s.dir, gitboard.Options{Now: func() time.Time {
			if reads++; reads == nth && s.ref("refs/heads/liza/state") == on {
				reached = true
				s.git(s.dir, "update-ref", "refs/heads/integration", string(base))
			}
			return s.clock.now()
		}})
		s.check(err)
		_, err = merge.Finish(s.ctx, b, human())
		s.check(errors.Join(err, b.Close()))
		if reached && s.state().Task("one").Status == board.Merged {
			t.Fatalf("MERGED, and integration has lost it before (%d)", nth)
		}
		if !reached && nth == 1 {
			t.Fatal("the clock is not read before it is recorded: the test shows nothing")
		}
	}
}

// TestMergeUnderARebase checks that integration does not move while a human rebases or bisects it:
// the human's git would set it back.
func TestMergeUnderARebase(t *testing.T) {
	s := newScene(t, ready("one"), approved("coder-1", "one", "b.txt", "b\n"))
	side := t.TempDir() + "/side"
	s.git(s.dir, "worktree", "add", "-q", side, "integration")
	before := s.ref("refs/heads/integration")
	for name, c := range map[string]struct{ begin, end []string }{
		"rebase": {[]string{"-c", "sequence.editor=echo break >", "rebase", "-q", "-i", "HEAD"}, []string{"rebase", "--abort"}},
		"bisect": {[]string{"bisect", "start"}, []string{"bisect", "reset"}},
	} {
		s.git(side, c.begin...)
		s.refused(s.mergeErr("one"), board.CodeCheckedOut, "git "+name)
		testrun.Equal(t, s.ref("refs/heads/integration"), before, "%s: integration is at", name)
		s.git(side, c.end...)
	}
	s.merge("one")
}

func (s *scene) integration(commit string) {
	s.t.Helper()
	s.git(s.dir, "-c", "core.hooksPath="+os.DevNull, "update-ref", "refs/heads/integration", commit)
}

// TestNotItsMerge covers approved work that came to integration by a commit that proves nothing:
// one with other content than its merge, or with a conflict that somebody resolved. It is not taken
// for its landing, and a person is told. What another operation recorded is no proof of it.
func TestNotItsMerge(t *testing.T) {
	for name, other := range testrun.Some(2, map[string]string{"other content": "c.txt", "a conflict": "b.txt"}) {
		t.Run(name, func(t *testing.T) {
			testrun.NotShort(t)
			t.Parallel()
			s := copyOf(t, []step{ready("one"), ready("other"), approved("coder-1", "one", "b.txt", "mine\n"), approved("coder-3", "other", other, "theirs\n")}, filepath.Join(t.TempDir(), "Jürgens Projekt"))
			base := s.ref("refs/heads/integration")
			next := s.git(s.dir, "commit-tree", "-m", "a human's", "-p", string(base), "integration^{tree}")
			s.do(human(), &board.Land{Before: string(base), Commit: next}, plumbing.RefUpdate{Ref: "refs/heads/integration", Old: base, New: plumbing.OID(next)})
			s.merge("other")
			tree := s.git(s.dir, "rev-parse", "integration^{tree}")
			odd := s.git(s.dir, "commit-tree", "-m", "odd", "-p", "integration", "-p", "task/one", tree)
			s.integration(odd)
			all := s.reports(found{merge.HalfMerge, "one", false, "which is not its merge and which no merge or land records"})
			if len(all) == 1 && !contains(all[0].Hint, "git liza verify") {
				t.Errorf("hint %q", all[0].Hint)
			}
			finished, err := merge.Finish(s.ctx, s.b, human())
			if err != nil || len(finished) > 0 {
				t.Errorf("finished %+v %v", finished, err)
			}
			s.refused(s.mergeErr("one"), board.CodeIntegration, "has the approved commit")
			s.is("one", board.Approved)
			report, err := audit.Verify(s.ctx, s.b.Repo(), s.b.Repo(), audit.Range{}, nil)
			if err != nil || len(report.Findings) == 0 {
				t.Errorf("nothing is found in %+v: %v", report, err)
			}
		})
	}
}

// TestBaseNotHere covers work of another clone whose base this one lacks, and work that it lacks
// altogether.
func TestBaseNotHere(t *testing.T) {
	s := newScene(t, ready("one"), ready("two"))
	base, nowhere := s.ref("refs/heads/integration"), strings.Repeat("1", 40)
	theirs := string(s.theirs("one"))
	for i, commit := range []string{theirs, nowhere} {
		task, coder := []string{"one", "two"}[i], s.as(coder(i))
		s.do(coder, &board.Claim{About: about(task), Clone: "another", BaseCommit: strings.Repeat("2", 40)})
		s.do(coder, &board.PreExec{About: about(task), Checkpoint: board.Checkpoint{Intent: "do it", Validation: "go test", FilesToModify: []string{"a.txt"}}})
		s.do(coder, &board.Submit{About: about(task), Commit: commit, Tree: s.git(s.dir, "rev-parse", theirs+"^{tree}"), ReviewBase: string(base), Commits: 1, Files: 1, NoTestsBecause: "none", People: []string{"ada@example.org"}})
		s.do(s.as("code-reviewer-1"), &board.ClaimReview{About: about(task)})
		s.do(s.as("code-reviewer-1"), &board.Verdict{About: about(task), Verdict: board.VerdictApproved, Checked: "tests", Commit: commit})
	}
	if finished, err := merge.Finish(s.ctx, s.b, human()); err != nil || len(finished) > 0 {
		t.Errorf("finished %+v %v", finished, err)
	}
	s.refused(s.mergeErr("two"), board.CodeMissing, "the approved commit "+nowhere[:10]+" of two is not in this clone | git liza sync")
	s.git(s.dir, "branch", "task/one", theirs)
	if st, err := worktrees.StatusOf(s.ctx, s.b, "one"); err != nil || st.Ahead != 1 || st.Behind != 0 {
		t.Errorf("status %+v %v", st, err)
	}
	all, err := merge.Train(s.ctx, s.b, merge.TrainRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1")}})
	if err != nil || len(all) != 1 || all[0].Task != "one" || !all[0].Merged || len(all[0].Warnings) != 1 || !contains(all[0].Warnings[0], "left out: ") {
		t.Errorf("merged %+v %v", all, err)
	}
}

// TestSecretFile checks that a conflict is recorded even if a file's name looks like a credential.
func TestSecretFile(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1", 20)
	s := newScene(t, ready("one"), ready("two"), approved("coder-1", "one", token, "mine\n"), approved("coder-2", "two", token, "theirs\n"))
	s.merge("one")
	if got := s.merge("two"); got.Failure != board.FailConflict || !contains(strings.Join(got.Conflicts, " "), token) {
		t.Errorf("merged %+v", got)
	}
	e := s.is("two", board.IntegrationFailed).Last(board.EventIntegrationFailed)
	if len(e.Files) > 0 || !contains(e.Log, "The files in conflict are not listed") {
		t.Errorf("recorded %+v", e)
	}
}

// TestCameAlong covers approved work that came to integration with a recorded landing: a merge of a
// task whose branch has it, or a human's commit. It counts as landed then.
func TestCameAlong(t *testing.T) {
	s := newScene(t, ready("one"), ready("two"), approved("coder-1", "one", "b.txt", "b\n"), claimed("coder-2", "two"))
	s.checkpoint("coder-2", "two")
	s.git(s.path("two"), "merge", "-q", "task/one")
	s.work("two", "c.txt", "c\n")
	_, err := s.trySubmit("coder-2", "two") // which warns of the other task's commit
	s.check(err)
	s.verdict("code-reviewer-1", "two", board.VerdictApproved)
	all, err := merge.Train(s.ctx, s.b, merge.TrainRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1"), ID: "r"}, Tasks: []string{"two", "one"}})
	s.check(err)
	if len(all) != 2 || !all[0].Merged || !all[1].Merged || all[0].Task != "two" || all[1].Task != "one" {
		t.Errorf("merged %+v", all)
	}
	one := s.is("one", board.Merged)
	testrun.Equal(t, one.MergeCommit, one.ReviewCommit, "landed as")
	s.lies()
}
