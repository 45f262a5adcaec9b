package worktrees_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/merge"
)

const integration = "refs/heads/integration"

// twoApproved are the steps to two approved tasks, each with a file of its own.
func twoApproved() []step {
	return []step{ready("one"), approved("coder-1", "one", "b.txt", "b\n"), ready("two"), approved("coder-2", "two", "c.txt", "c\n")}
}

// setBack merges one with a merge commit, and moves integration back behind it. A task three depends
// on one.
var setBack = step{"set back", func(s *scene) {
	s.set("merge_style", "no-ff")
	before := s.ref(integration)
	s.merge("one")
	s.task("three", func(p *board.AddTask) { p.DependsOn = []string{"one"} })
	s.git(s.dir, "update-ref", integration, string(before))
}}

// landedBack makes a scene in which integration was set back. landed is the merge that it lacks.
func landedBack(t *testing.T) (s *scene, landed plumbing.OID) {
	s = newScene(t, append(twoApproved(), setBack)...)
	return s, plumbing.OID(s.state().Task("one").MergeCommit)
}

func (s *scene) claims(b *gitboard.Board, id, task string) (*worktrees.Claimed, error) {
	return worktrees.Claim(s.ctx, b, worktrees.ClaimRequest{Request: gitboard.Request{Actor: s.as(id)}, Task: task})
}

func (s *scene) lands(b *gitboard.Board, commit plumbing.OID) error {
	_, err := merge.Land(s.ctx, b, merge.LandRequest{Request: gitboard.Request{Actor: human()}, Commit: string(commit)})
	return err
}

// TestSetBack checks that nothing is built on integration while it lacks what has landed, and that
// the way back is named and works after git has pruned.
func TestSetBack(t *testing.T) {
	s, landed := landedBack(t)
	way := "git liza land " + landed.Short()
	s.git(s.dir, "reflog", "expire", "--expire=now", "--all")
	s.git(s.dir, "gc", "-q", "--prune=now")
	s.refused(second(s.claims(s.b, "coder-1", "three")), board.CodeSetBack, way)
	s.refused(s.mergeErr("two"), board.CodeSetBack, way)
	s.refused(second(s.b.Do(s.ctx, gitboard.Request{Actor: human()}, gitboard.Completing(&board.GoalComplete{}))), board.CodeSetBack, way)
	other := plumbing.OID(s.git(s.dir, "commit-tree", "-p", "integration", "-m", "other", "integration^{tree}"))
	s.refused(s.lands(s.b, other), board.CodeSetBack, way)

	s.check(s.lands(s.b, landed))
	got := testrun.Must(s.claims(s.b, "coder-1", "three"))(s.t)
	testrun.Equal(t, s.read(got.Path, "b.txt"), "b\n", "it is begun without the work that it depends on")
	s.merge("two")
}

// TestSetBackBeside checks the way back where integration has other commits instead.
func TestSetBackBeside(t *testing.T) {
	s, landed := landedBack(t)
	beside := filepath.Join(t.TempDir(), "beside")
	s.git(s.dir, "worktree", "add", "-q", beside, "integration")
	s.write(beside, "d.txt", "d\n")
	s.commitAll(beside, "instead")
	s.refused(second(s.claims(s.b, "coder-1", "three")), board.CodeSetBack, "git switch -c both integration && git merge "+landed.Short())
	s.git(beside, "switch", "-q", "-c", "both")
	s.git(beside, "merge", "-q", "-m", "both", landed.Short())
	s.check(s.lands(s.b, "both"))
	testrun.Must(s.claims(s.b, "coder-1", "three"))(s.t)
}

// TestAhead checks what the default branch has of integration after a squash of its first task:
// that it and integration moved on, even in the same lines, changes nothing. The squash itself is no
// commit that integration lacks.
func TestAhead(t *testing.T) {
	s := newScene(t, twoApproved()...)
	s.merge("one")
	says := func(want string, tasks, behind int) {
		t.Helper()
		for range 2 { // the second answer is the kept one
			v := testrun.Must(s.b.View(s.ctx))(s.t)
			a := testrun.Must(v.Ahead(s.ctx))(s.t)
			if a == nil || a.String() != want || a.Landed != tasks {
				t.Errorf("%+v, not %q with %d tasks", a, want, tasks)
			}
			b := testrun.Must(v.Behind(s.ctx))(s.t)
			if b == nil {
				b = new(report.Behind)
			}
			if b.Commits != behind {
				t.Errorf("%+v, not %d commits behind", b, behind)
			}
		}
	}
	start := s.git(s.dir, "rev-parse", "main")
	says("integration is 1 commit ahead of main", 0, 0)
	onMain := func(message, tree string) {
		s.git(s.dir, "update-ref", "refs/heads/main", s.git(s.dir, "commit-tree", "-p", "main", "-m", message, tree))
	}
	onMain("squashed", "integration^{tree}")
	says("integration is 0 commits ahead of main, which has 1 of 1 merged task", 1, 0)
	edited := s.git(s.dir, "rev-parse", "main~1^{tree}") // main takes it back: a merge of the two would conflict or bring nothing
	onMain("moved on", edited)
	says("integration is 0 commits ahead of main, which has 1 of 1 merged task", 1, 0)
	s.merge("two")
	says("integration is 2 commits ahead of main, which has 1 of 2 merged tasks", 1, 0)
	clone := t.TempDir()
	s.git(clone, "clone", "-q", "-b", "main", s.dir, ".")
	s.write(clone, "b.txt", "other\n")
	other := s.commitAll(clone, "other")
	s.git(s.dir, "fetch", "-q", clone, string(other))
	s.git(s.dir, "update-ref", "refs/heads/main", string(other))
	says("integration is 2 commits ahead of main, which has 1 of 2 merged tasks", 1, 2)
	s.git(s.dir, "update-ref", "refs/heads/main", start)
}

// TestRemade: commits from before the checkpoint that are made again after the refusal of their
// submission are marked for the reviewer.
func TestRemade(t *testing.T) {
	for name, again := range testrun.Some(2, map[string][]string{
		"rebased":  {"rebase", "--quiet", "--no-ff", "integration"},
		"squashed": {"commit", "--quiet", "--amend", "--reset-author", "--no-edit"},
	}) {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, ready("one"), claimed("coder-1", "one"))
			s.work("one", "b.txt", "b\n")
			r := gitboard.Request{Actor: s.as("coder-1")}
			_, err := worktrees.PreExec(s.ctx, s.b, r, board.PreExec{About: about("one"), Checkpoint: board.Checkpoint{Intent: "i", Validation: "v", FilesToModify: []string{"b.txt"}}})
			s.check(err)
			s.refused(second(s.trySubmit("coder-1", "one")), "checkpoint", "was made before the checkpoint")
			s.clock.pass(time.Minute)
			later := s.clock.now().Format(time.RFC3339)
			s.git(s.path("one"), append([]string{"-c", "alias.then=!GIT_COMMITTER_DATE=" + later + " git", "then"}, again...)...)
			head := s.submit("coder-1", "one")
			e := s.state().Task("one").Last(board.EventReady)
			if strings.Join(e.Remade, " ") != string(head) || e.RefusedAt == "" {
				t.Errorf("%+v", e)
			}
			v := testrun.Must(s.b.View(s.ctx))(s.t)
			sub := testrun.Must(v.Submission(s.ctx, v.State.Task("one")))(s.t)
			testrun.Contains(t, strings.Join(sub.Commits, "\n"), " (remade after the refusal of "+string(e.RefusedAt)+") ", "the text")
		})
	}
}
