package worktrees_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/merge"
)

func (s *scene) integration(commit string) {
	s.t.Helper()
	s.git(s.dir, "-c", "core.hooksPath="+os.DevNull, "update-ref", "refs/heads/integration", commit)
}

// TestNotItsMerge covers approved work that came to integration by a commit that proves nothing:
// one with other content than its merge, or with a conflict that somebody resolved. It is not taken
// for its landing, and a person is told. What another operation recorded is no proof of it.
func TestNotItsMerge(t *testing.T) {
	for _, c := range []struct{ name, other, mine string }{
		{"other content", "c.txt", "b.txt"},
		{"a conflict", "b.txt", "b.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			testrun.NotShort(t)
			t.Parallel()
			s := copyOf(t, []step{ready("one"), ready("other"), approved("coder-1", "one", c.mine, "mine\n"), approved("coder-2", "other", c.other, "theirs\n")}, filepath.Join(t.TempDir(), "Jürgens Projekt"))
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
	if one.MergeCommit != one.ReviewCommit {
		t.Errorf("landed as %s", one.MergeCommit)
	}
	s.lies()
}
