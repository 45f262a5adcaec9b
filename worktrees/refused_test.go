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
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// TestSubmitNothing covers submissions that bring nothing, or nothing that integration could take.
func TestSubmitNothing(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.checkpoint("coder-1", "one")
	landed := s.work("one", "b.txt", "b\n")
	before := s.ref("refs/heads/integration")
	s.do(human(), &board.Land{Before: string(before), Commit: string(landed)}, plumbing.RefUpdate{Ref: "refs/heads/integration", Old: before, New: landed})
	s.refused(second(s.trySubmit("coder-1", "one")), board.CodeEmpty, "everything on task/one is on integration already")
	s.git(s.path("one"), "checkout", "-q", "--orphan", "apart")
	s.git(s.path("one"), "commit", "-qm", "apart"+s.trailers("one"))
	s.git(s.path("one"), "checkout", "-q", "-B", "task/one", "apart")
	_, err := s.trySubmit("coder-1", "one")
	s.refused(err, board.CodeUnrelated, "task/one has no commit in common with integration | begin from integration")
	st, err := worktrees.StatusOf(s.ctx, s.b, "one")
	if err != nil || st.Advice != "it has no commit in common with integration" {
		t.Errorf("status %+v %v", st, err)
	}
	s.deletes(taskRef("one"))
	s.refused(second(s.trySubmit("coder-1", "one")), board.CodeMissing, "the branch task/one is missing | git liza doctor")
}

// TestFreeRejection checks that a rejection may have any form if comments on lines say the rest, and
// only then.
func TestFreeRejection(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.checkpoint("coder-1", "one")
	commit := string(s.work("one", "b.txt", "b\n"))
	s.submit("coder-1", "one")
	reviewer := gitboard.Request{Actor: s.as("code-reviewer-1")}
	s.do(reviewer.Actor, &board.ClaimReview{About: about("one")})
	reject := worktrees.VerdictRequest{Request: reviewer, Task: "one", Verdict: board.VerdictRejected, Commit: commit, Reason: "Suggestion: see the comment"}
	if _, err := worktrees.Verdict(s.ctx, s.b, reject); err == nil {
		t.Error("a rejection that names no blocker is accepted")
	}
	s.is("one", board.ReadyForReview)
	s.do(reviewer.Actor, &board.Comment{About: about("one"), Commit: commit, Path: "b.txt", Line: 1, Lines: 1, Text: "Why b?"})
	testrun.Must(worktrees.Verdict(s.ctx, s.b, reject))(s.t)
	if one := s.is("one", board.Rejected); one.Rejection.Overall != "Suggestion: see the comment" {
		t.Errorf("rejected: %+v", one.Rejection)
	}
	_, err := worktrees.Verdict(s.ctx, s.b, worktrees.VerdictRequest{Request: reviewer, Task: "none", Verdict: board.VerdictApproved, Checked: "tests", Commit: commit})
	s.refused(err, board.CodeUnknownTask, "none")
}

// theirs makes a commit on top of integration, with a file of a task.
func (s *scene) theirs(task string) plumbing.OID {
	s.t.Helper()
	side := filepath.Join(s.t.TempDir(), "side")
	s.git(s.dir, "worktree", "add", "-q", "--detach", side, "integration")
	defer s.git(s.dir, "worktree", "remove", "--force", side)
	s.write(side, task+".txt", task+"\n")
	return s.commitAll(side, "theirs")
}

// elsewhere has a coder of another clone claim and submit a task, as that clone records it.
func (s *scene) elsewhere(id, task string) plumbing.OID {
	s.t.Helper()
	base := s.ref("refs/heads/integration")
	s.do(s.as(id), &board.Claim{About: about(task), Clone: "another", BaseCommit: string(base)})
	s.do(s.as(id), &board.PreExec{About: about(task), Checkpoint: board.Checkpoint{Intent: "do it", Validation: "go test", FilesToModify: []string{"a.txt"}}})
	theirs := s.theirs(task)
	s.do(s.as(id), &board.Submit{About: about(task), Commit: string(theirs), Tree: s.git(s.dir, "rev-parse", string(theirs)+"^{tree}"), ReviewBase: string(base), Commits: 1, Files: 1, NoTestsBecause: "none", People: []string{"ada@example.org"}},
		plumbing.RefUpdate{Ref: plumbing.ReviewRef(task, 1), New: theirs})
	return theirs
}

func (s *scene) handOff(id, task string) error {
	s.t.Helper()
	r := gitboard.Request{Actor: s.as(id)}
	return second(worktrees.HandOff(s.ctx, s.b, worktrees.HandOffRequest{
		Request: r, HandOff: board.HandOff{About: about(task), Summary: "s", NextAction: "n"},
	}))
}

// TestFromElsewhere checks what is done here with the work of another clone: its branch here says
// nothing, it is reviewed in a worktree of its own, and this clone is not asked for its worktree.
func TestFromElsewhere(t *testing.T) {
	s := newScene(t, ready("one"), ready("two"))
	theirs := s.elsewhere("coder-1", "one")
	s.git(s.dir, "branch", "task/one", "integration")
	s.reports()
	s.refused(s.handOff("coder-1", "one"), board.CodeWrongState, "one is READY_FOR_REVIEW")
	s.do(s.as("code-reviewer-1"), &board.ClaimReview{About: about("one")})
	v := testrun.Must(s.b.View(s.ctx))(s.t)
	one := v.State.Task("one")

	s.write(s.path("one"), "notes.txt", "a person's\n")
	s.refused(second(worktrees.ForReview(s.ctx, s.b, v, one)), board.CodeInTheWay, "is not a worktree of this repository")
	s.check(os.RemoveAll(s.path("one")))
	path := testrun.Must(worktrees.ForReview(s.ctx, s.b, v, one))(s.t)
	s.write(path, "x.cache", "of this review\n")
	again, err := worktrees.ForReview(s.ctx, s.b, v, one)
	if s.check(err); again != path || s.git(path, "rev-parse", "HEAD") != string(theirs) || s.read(path, "x.cache") == "" {
		t.Errorf("reviewed in %s, then in %s", path, again)
	}
	lost := *one
	lost.ReviewCommit = strings.Repeat("1", 40)
	_, err = worktrees.ForReview(s.ctx, s.b, v, &lost)
	s.refused(err, board.CodeMissing, "the submitted commit 1111111111 of one is not in this clone")
	for _, here := range []func(*board.Task){func(t *board.Task) { t.Clone = "" }, func(t *board.Task) { t.Status = board.Approved }} {
		other := *v.State.Task("two")
		other.Clone, other.Status, other.ReviewCommit = "another", board.ReadyForReview, string(theirs)
		here(&other)
		path, err := worktrees.ForReview(s.ctx, s.b, v, &other)
		if _, missing := os.Stat(path); err != nil || path != s.path("two") || missing == nil {
			t.Errorf("a worktree was made in %s for %+v: %v", path, other, err)
		}
	}
	_, err = worktrees.Verdict(s.ctx, s.b, worktrees.VerdictRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1")}, Task: "one", Verdict: board.VerdictApproved, Checked: "tests", Commit: string(theirs)})
	s.check(err)
	s.is("one", board.Approved)
	s.merge("one")
	s.lies()
}

// TestNotHere checks what is reported of a worktree that is in another clone, or should be here.
func TestNotHere(t *testing.T) {
	s := newScene(t, ready("one"), ready("two"))
	base := string(s.ref("refs/heads/integration"))
	s.do(s.as("coder-1"), &board.Claim{About: about("one"), Clone: "another", BaseCommit: base})
	s.do(s.as("coder-2"), &board.Claim{About: about("two"), BaseCommit: base}) // before clones had names
	s.refused(s.handOff("coder-1", "one"), board.CodeElsewhere, "the worktree of one is in another clone | do it there")
	s.refused(s.handOff("coder-2", "two"), board.CodeMissing, "git liza worktree create two")
	s.refused(s.handOff("coder-1", "../one"), board.CodeUnknownTask, "../one")
	s.refused(s.handOff("coder-1", ""), board.CodeInvalid, "none is named")
	s.checkpoint("coder-1", "one")
	if head := s.state().Task("one").Last(board.EventPreExec); head == nil {
		t.Error("no checkpoint without a branch")
	}
	st, err := worktrees.StatusHere(s.ctx, s.b, s.state().Task("one"))
	if err != nil || st.Exists || !st.Head.IsZero() {
		t.Errorf("status %+v %v", st, err)
	}
}

// TestSweepLeaves checks whose expired claims are left: one's own, and those of humans.
func TestSweepLeaves(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"), claimed("coder-2", "two"))
	s.submitted("coder-2", "two", "b.txt", "b\n")
	s.do(s.as("code-reviewer-1"), &board.ClaimReview{About: about("two")})
	s.clock.pass(past)
	swept, err := worktrees.Sweep(s.ctx, s.b, s.agent["coder-1"], roles.Coder)
	if err != nil || len(swept) > 0 {
		t.Errorf("of coders, swept %+v %v", swept, err)
	}
	swept, err = worktrees.Sweep(s.ctx, s.b, s.agent["coder-1"], roles.CodeReviewer)
	if err != nil || len(swept) != 1 || !swept[0].Review {
		t.Errorf("of reviewers, swept %+v %v", swept, err)
	}
	s.do(human(), &board.ClaimReview{About: about("two")})
	s.clock.pass(past)
	swept, err = worktrees.Sweep(s.ctx, s.b, s.agent["coder-1"], "")
	if err != nil || len(swept) > 0 {
		t.Errorf("swept %+v %v", swept, err)
	}
	ended, cancel := context.WithCancel(s.ctx)
	cancel()
	if swept, err := worktrees.Sweep(ended, s.b, human(), ""); err == nil || len(swept) > 0 {
		t.Errorf("swept %+v %v, though it was cut short", swept, err)
	}
	s.is("one", board.Claimed)
	if s.is("two", board.ReadyForReview).ReviewingBy == "" {
		t.Error("a human's review is released")
	}
}

// TestTidyAllContinues checks that one task that can't be tidied keeps no other from it.
func TestTidyAllContinues(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"), claimed("coder-2", "two"))
	for _, task := range []string{"one", "two"} {
		s.do(human(), &board.Block{About: about(task), Reason: "stop"})
		s.do(human(), &board.Abandon{About: about(task), Reason: "not needed"})
	}
	s.git(s.dir, "branch", "task/not/ours", "main")
	testrun.InitRepository(t, filepath.Join(s.path("one"), "clone"), false)
	s.write(s.path("one"), "clone/precious", "p\n")
	tidied, err := worktrees.TidyAll(s.ctx, s.b, human())
	if !slices.Equal(tidied, []string{"two"}) || err == nil || !contains(err.Error(), "worktree or branch of one could not be removed (git liza doctor looks at it): ") {
		t.Errorf("tidied %q: %v", tidied, err)
	}
	s.lies("one")
	s.check(os.RemoveAll(filepath.Join(s.path("one"), "clone")))
	tidied, err = worktrees.TidyAll(s.ctx, s.b, human())
	if s.check(err); !slices.Equal(tidied, []string{"one"}) || s.ref("refs/heads/task/not/ours").IsZero() {
		t.Errorf("tidied %q", tidied)
	}
	s.lies()
}

// TestNextClaim checks that a rejected task goes to others only some time after its author's lease
// has run out.
func TestNextClaim(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), submitted("coder-1", "one", "b.txt", "b\n"))
	s.verdict("code-reviewer-1", "one", board.VerdictRejected)
	next := func(id, want string) {
		t.Helper()
		v := testrun.Must(s.b.View(s.ctx))(s.t)
		if got, err := worktrees.NextClaim(s.ctx, v, id); got != want || err != nil {
			t.Errorf("%s gets %q, not %q (%v)", id, got, want, err)
		}
	}
	next("coder-1", "one")
	next("coder-2", "")
	s.clock.pass(past)
	next("coder-2", "")
	s.clock.pass(board.AbandonedAfter)
	next("coder-2", "one")
}

// TestRepeatedClaim checks that a claim that is repeated later brings back its worktree, and what is
// unresolved there, only while the task is still its.
func TestRepeatedClaim(t *testing.T) {
	s := newScene(t, append(conflicting(), conflicted)...)
	r := worktrees.ClaimRequest{Request: gitboard.Request{Actor: s.as("coder-2"), ID: "r"}, Task: "one"}
	claim := func() *worktrees.Claimed {
		t.Helper()
		return testrun.Must(worktrees.Claim(s.ctx, s.b, r))(s.t)
	}
	first, again := claim(), claim()
	if !slices.Equal(first.Conflicts, []string{"b.txt"}) || !slices.Equal(again.Conflicts, first.Conflicts) || !again.Kind.Fix || again.Path != first.Path {
		t.Errorf("claimed %+v, then %+v", first, again)
	}
	s.git(first.Path, "merge", "--abort")
	rebases := filepath.Join(s.gitDirOf("one"), "rebase-merge")
	s.check(os.Mkdir(rebases, 0o755))
	if again := claim(); len(again.Conflicts) > 0 || s.git(first.Path, "status", "--porcelain") != "" {
		t.Errorf("integration was merged in while it is rebased: %+v", again)
	}
	s.check(os.Remove(rebases))
	if again := claim(); !slices.Equal(again.Conflicts, first.Conflicts) || len(again.Warnings) > 0 {
		t.Errorf("integration was not merged in again: %+v", again)
	}
	s.git(first.Path, "checkout", "-q", "--ours", "b.txt")
	s.git(first.Path, "add", "b.txt")
	if again := claim(); len(again.Conflicts) > 0 || len(again.Warnings) > 0 {
		t.Errorf("integration was merged in though that is resolved: %+v", again)
	}
	s.git(first.Path, "merge", "--abort")
	s.do(human(), &board.Block{About: about("one"), Reason: "stop"})
	s.check(worktrees.Delete(s.ctx, s.b, s.as("planner-1"), "one"))
	if again := claim(); len(again.Conflicts) > 0 {
		t.Errorf("claimed %+v", again)
	}
	s.lies()
	// Nor where another clone has it now.
	s.do(human(), &board.Unblock{About: about("one"), Mode: board.UnblockKeepWork})
	s.do(s.as("coder-2"), &board.Claim{About: about("one"), Clone: "another"})
	if again := claim(); len(again.Conflicts) > 0 {
		t.Errorf("claimed %+v", again)
	}
	s.lies()
}

// TestMadeMeanwhile checks that a worktree for a review serves that another process makes while
// this one does.
func TestMadeMeanwhile(t *testing.T) {
	s := newScene(t, ready("one"))
	theirs := s.elsewhere("coder-1", "one")
	s.set("worktree_setup", "[ -e '"+s.path("one")+"' ] || git -C '"+s.dir+"' worktree add -q --detach '"+s.path("one")+"' "+string(theirs)+" && : >'"+s.dir+"/.git/worktrees/one/made-by-git-liza'")
	v := testrun.Must(s.b.View(s.ctx))(s.t)
	path, err := worktrees.ForReview(s.ctx, s.b, v, v.State.Task("one"))
	if s.check(err); path != s.path("one") || s.git(path, "rev-parse", "HEAD") != string(theirs) {
		t.Errorf("reviewed in %s", path)
	}
	s.lies("one")
}

// TestReviewHandOff checks that a review is handed off whatever state the author's worktree is in.
func TestReviewHandOff(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), submitted("coder-1", "one", "b.txt", "b\n"))
	s.do(s.as("code-reviewer-1"), &board.ClaimReview{About: about("one")})
	s.write(s.path("one"), "half.txt", "half\n")
	s.check(s.handOff("code-reviewer-1", "one"))
}

// TestNotAllowed checks refusals that the scripts of the commands do not reach.
func TestNotAllowed(t *testing.T) {
	s := newScene(t, ready("one"), approved("coder-1", "one", "b.txt", "b\n"), ready("two"), claimed("coder-2", "two"), ready("three"))
	_, err := worktrees.Create(s.ctx, s.b, "three", nil)
	s.refused(err, board.CodeWrongState, "three is UNCLAIMED: it has no worktree before a coder claims it")
	_, err = worktrees.Create(s.ctx, s.b, "two", by(s.as("coder-3")))
	s.refused(err, board.CodePermission, "coder-2 holds two, and coder-3 would replace its worktree")
	s.refused(worktrees.Delete(s.ctx, s.b, s.as("coder-3"), "two"), board.CodePermission, "not for a coder")
	s.merge("one")
	s.refused(second(worktrees.Create(s.ctx, s.b, "one", nil)), board.CodeWrongState, "one is MERGED: it has no worktree |")
	s.refused(worktrees.Delete(s.ctx, s.b, human(), "one"), board.CodeWrongState, "git liza doctor --fix takes away what a merge has left")

	s.checkpoint("coder-2", "two")
	s.work("two", "c.txt", "c\n")
	s.git(s.path("two"), "merge", "-q", "--no-commit", "-s", "ours", "integration")
	s.refused(second(s.trySubmit("coder-2", "two")), board.CodeDirty, "git merge is not finished")

	other := gitboard.Request{Actor: human(), ID: "other"}
	testrun.Must(s.b.Do(s.ctx, other, gitboard.Just(&board.AddNote{Message: "under this id"})))(s.t)
	_, err = merge.Land(s.ctx, s.b, merge.LandRequest{Request: other, Commit: "main"})
	s.refused(err, board.CodeExists, "the request other was carried out before, as note")
}
