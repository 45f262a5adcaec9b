package worktrees_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/doctor"
)

const past = 301 * time.Second // longer than a lease

// dirtied makes a commit, an edit and a new file in a task's worktree.
func (s *scene) dirtied(task string) plumbing.OID {
	s.t.Helper()
	commit := s.work(task, "a.txt", "committed\n")
	s.write(s.path(task), "a.txt", "edited\n")
	s.write(s.path(task), "new.txt", "new\n")
	s.write(s.path(task), "x.cache", "ignored\n")
	return commit
}

// fresh checks that the worktree starts at integration and that the old work is in the attic.
func (s *scene) fresh(got *worktrees.Claimed, old plumbing.OID) {
	s.t.Helper()
	base := s.ref("refs/heads/integration")
	if !got.Kind.Fresh || got.Task.BaseCommit != string(base) || s.ref(taskRef(got.Task.ID)) != base {
		s.t.Errorf("not fresh: %+v", got)
	}
	if out := s.git(got.Path, "status", "--porcelain", "--ignored"); out != "" {
		s.t.Errorf("the new worktree holds %q", out)
	}
	kept := s.attic(got.Task.ID)
	if len(kept) != 1 || s.file(kept[0], "a.txt") != "edited\n" || s.file(kept[0], "new.txt") != "new\n" {
		s.t.Fatalf("the attic holds %v", kept)
	}
	if s.git(s.dir, "rev-parse", string(kept[0])+"^") != string(old) {
		s.t.Error("the kept work does not follow from the commits")
	}
	last := got.Task.History[len(got.Task.History)-1]
	if last.Kept != string(kept[0]) {
		s.t.Errorf("the board says that %q holds the work", last.Kept)
	}
	s.lies(got.Task.ID)
}

// TestNestedRepository covers a repository inside a worktree, which the attic can't hold: a claim
// that names no task takes another one.
func TestNestedRepository(t *testing.T) {
	s := newScene(t)
	s.task("one", func(p *board.AddTask) { p.Priority = 1 })
	s.task("two")
	s.claim("coder-1", "one")
	testrun.InitRepository(s.t, filepath.Join(s.path("one"), "clone"), false)
	s.write(filepath.Join(s.path("one"), "clone"), "precious", "p\n")
	s.git(filepath.Join(s.path("one"), "clone"), "add", ".")
	s.git(filepath.Join(s.path("one"), "clone"), "commit", "-qm", "p")
	s.clock.pass(past)
	_, err := worktrees.Claim(s.ctx, s.b, worktrees.ClaimRequest{Request: gitboard.Request{Actor: s.as("coder-2")}, Task: "one"})
	s.refused(err, "nested", "clone/ in the worktree of one")
	if got := s.claim("coder-2", ""); got.Task.ID != "two" {
		t.Errorf("claimed %s", got.Task.ID)
	}
	_, err = worktrees.Claim(s.ctx, s.b, worktrees.ClaimRequest{Request: gitboard.Request{Actor: s.as("coder-3")}})
	s.refused(err, "nested", "push its work or move it")
	swept, err := worktrees.Sweep(s.ctx, s.b, human(), "")
	if err != nil || len(swept) != 1 || swept[0].Skipped == "" {
		t.Errorf("swept %+v %v", swept, err)
	}
	if s.read(s.path("one"), "clone/precious") != "p\n" {
		t.Error("it's lost")
	}
}

// TestInTheWay checks that files and checkouts of others are left alone.
func TestInTheWay(t *testing.T) {
	s := newScene(t, ready("one"))
	s.write(s.path("one"), "notes.txt", "a human's notes\n")
	claim := func() error {
		_, err := worktrees.Claim(s.ctx, s.b, worktrees.ClaimRequest{Request: gitboard.Request{Actor: s.as("coder-1")}})
		return err
	}
	s.refused(claim(), "in-the-way", "is not a worktree of this repository")
	if s.read(s.path("one"), "notes.txt") != "a human's notes\n" {
		t.Error("it's lost")
	}
	s.check(os.RemoveAll(s.path("one")))
	s.check(os.MkdirAll(s.path("one"), 0o755)) // an empty directory does no harm

	s.git(s.dir, "branch", "task", "main")
	s.refused(claim(), "in-the-way", "there is a branch task, and git keeps no branch task/one below it")
	s.git(s.dir, "branch", "-m", "task", "theirs")
	s.git(s.dir, "branch", "task/one", "main")
	side := filepath.Join(t.TempDir(), "side")
	s.git(s.dir, "worktree", "add", "-q", side, "task/one")
	s.refused(claim(), "checked-out", "task/one is checked out in "+side)
	s.write(side, "b.txt", "b\n")
	own := s.commitAll(side, "a human's commit")
	s.git(s.dir, "worktree", "remove", side)
	s.refused(claim(), "in-the-way", "task/one with commits of somebody's own")
	_, err := worktrees.Claim(s.ctx, s.b, worktrees.ClaimRequest{Request: gitboard.Request{Actor: s.as("coder-1")}, Task: "one"})
	s.refused(err, "in-the-way", "git branch -m task/one NAME")
	s.git(s.dir, "branch", "-m", "task/one", "mine")
	got := s.claim("coder-1", "")
	if kept := s.attic("one"); len(kept) != 0 || s.ref("refs/heads/mine") != own || got.Task.BaseCommit == string(own) {
		t.Errorf("kept %v", kept)
	}

	// A branch that is checked out elsewhere is left alone.
	s.git(s.path("one"), "checkout", "-q", "--detach")
	s.git(s.dir, "worktree", "add", "-q", side, "task/one")
	_, err = worktrees.End(s.ctx, s.b, gitboard.Request{Actor: human()}, &board.Release{About: board.About{Task: "one"}, Force: true, Reason: "r"})
	s.check(err)
	s.lies()
	if s.ref(taskRef("one")).IsZero() {
		t.Error("a branch was deleted under a human's checkout")
	}
}

// TestBranchAbove checks that a task whose branch is gone does not continue while a branch has the
// prefix's name.
func TestBranchAbove(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	work := s.work("one", "a.txt", "a\n")
	s.submit("coder-1", "one")
	s.verdict("code-reviewer-1", "one", board.VerdictRejected)
	s.git(s.dir, "worktree", "remove", s.path("one"))
	s.git(s.dir, "branch", "-D", "task/one")
	s.git(s.dir, "branch", "task", "main")
	_, err := worktrees.Claim(s.ctx, s.b, worktrees.ClaimRequest{Request: gitboard.Request{Actor: s.as("coder-1")}, Task: "one"})
	s.refused(err, "in-the-way", "git branch -m task NAME")
	s.git(s.dir, "branch", "-m", "task", "theirs")
	s.claim("coder-1", "one")
	if at := s.ref(taskRef("one")); at != work {
		t.Errorf("the branch is at %s, not at %s", at, work)
	}
}

// TestAtWork checks that a task is not taken from a coder without a supervisor whose worktree changed
// within the time of a lease.
func TestAtWork(t *testing.T) {
	for name, pid := range map[string]int{"by hand": 0, "supervised": 7} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, ready("one"))
			_, coder, err := s.b.Sessions().Register(s.ctx, "coder-1", "", gitboard.Process{PID: pid})
			s.check(err)
			s.agent["coder-1"] = coder
			s.claim("coder-1", "one")
			s.clock.pass(time.Hour)
			s.write(s.path("one"), "new.txt", "x\n")
			take := func(changed time.Duration) error {
				at := s.clock.now().Add(-changed)
				s.check(os.Chtimes(filepath.Join(s.path("one"), "new.txt"), at, at))
				return second(worktrees.Claim(s.ctx, s.b, worktrees.ClaimRequest{Request: gitboard.Request{Actor: s.as("coder-2")}, Task: "one"}))
			}
			if pid == 0 {
				s.refused(take(time.Minute), board.CodeLease, "its worktree changed 1m ago: coder-1 seems to work on it")
				head := s.ref(taskRef("one"))
				c := testrun.Must(plumbing.DecodeCommit(testrun.Must(s.b.Repo().Object(s.ctx, string(head)))(t)))(t)
				c.Parents, c.Committer.When = []plumbing.OID{head}, s.clock.now().Add(-2*time.Minute)
				next := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(c))
				s.check(s.b.Repo().WriteAndUpdate(s.ctx, []plumbing.Object{next}, []plumbing.RefUpdate{{Ref: taskRef("one"), Old: head, New: next.OID}}, ""))
				s.refused(take(time.Hour), board.CodeLease, "its worktree changed 2m ago")
				s.clock.pass(time.Hour)
			}
			s.check(take(map[int]time.Duration{0: time.Hour, 7: time.Minute}[pid]))
		})
	}
}

// TestLateWork checks that nothing is lost if the previous holder, unaware of the take-over,
// continues to work during it.
func TestLateWork(t *testing.T) {
	s := newScene(t, ready("one"))
	s.claim("coder-1", "")
	old := s.work("one", "a.txt", "committed\n")
	s.clock.pass(past)
	// This is the transaction of a claim by coder-2, whose process then dies.
	base := s.ref("refs/heads/integration")
	clone := testrun.Must(s.b.Clone().ID(s.ctx))(s.t)
	s.do(s.as("coder-2"), &board.Claim{About: about("one"), Clone: clone, BaseCommit: string(base), Kept: string(old)},
		plumbing.RefUpdate{Ref: "refs/liza/attic/one/1", New: old}, plumbing.RefUpdate{Ref: taskRef("one"), Old: old, New: base})
	s.write(s.path("one"), "late.txt", "late\n")
	path := testrun.Must(worktrees.Create(s.ctx, s.b, "one", by(s.as("coder-2"))))(s.t)
	if out := s.git(path, "status", "--porcelain"); out != "" {
		t.Errorf("it holds %q", out)
	}
	kept := s.attic("one")
	if len(kept) != 2 || s.file(kept[1], "late.txt") != "late\n" || s.file(kept[1], "a.txt") != "committed\n" {
		t.Errorf("kept %v", kept)
	}
	if p := s.problems(); len(p) > 0 {
		t.Errorf("problems: %+v", p)
	}
}

func TestIterationLimit(t *testing.T) {
	s := newScene(t)
	s.task("one", func(p *board.AddTask) { p.MaxIterations = 1 })
	s.claim("coder-1", "")
	s.clock.pass(past)
	_, err := worktrees.Claim(s.ctx, s.b, worktrees.ClaimRequest{Request: gitboard.Request{Actor: s.as("coder-1"), ID: "r"}})
	s.refused(err, "limit", "one is BLOCKED now: Max iterations (1) reached without approval")
	s.is("one", board.Blocked)
	_, err = worktrees.Claim(s.ctx, s.b, worktrees.ClaimRequest{Request: gitboard.Request{Actor: s.as("coder-1"), ID: "r"}})
	s.refused(err, "limit", "one is BLOCKED now")
	s.lies("one")
}

// TestBranchOfNoTask covers a branch that only has the name of a task branch. It is a human's, and
// is left alone when a task ends that was never claimed.
func TestBranchOfNoTask(t *testing.T) {
	s := newScene(t, ready("one"))
	own := s.git(s.dir, "commit-tree", "-p", "main", "-m", "mine", "main^{tree}")
	s.git(s.dir, "branch", "task/one", own)
	s.git(s.dir, "branch", "task/no-task", own)
	done, err := worktrees.End(s.ctx, s.b, gitboard.Request{Actor: human()}, &board.Abandon{About: about("one"), Reason: "r"})
	s.check(err)
	if p := s.problems(); len(p) > 0 {
		t.Errorf("problems: %+v", p)
	}
	tidied := testrun.Must(worktrees.TidyAll(s.ctx, s.b, human()))(s.t)
	s.check(worktrees.Tidy(s.ctx, s.b, done.View, human(), "one"))
	if len(tidied) > 0 || string(s.ref(taskRef("one"))) != own || string(s.ref(taskRef("no-task"))) != own || len(s.attic("one")) > 0 {
		t.Errorf("tidied %v", tidied)
	}
}

// TestKeptOnce checks which commits go to the attic when the work on a task ends: those that
// nothing holds, the newest of them named on the board, and none twice.
func TestKeptOnce(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"), claimed("coder-2", "two"), ready("three"), claimed("coder-3", "three"))
	branch := s.work("one", "b.txt", "b\n")
	s.git(s.dir, "update-ref", "refs/liza/attic/one/1", string(branch))
	s.git(s.path("one"), "checkout", "-q", "--detach", "integration")
	s.write(s.path("one"), "c.txt", "c\n")
	detached := s.commitAll(s.path("one"), "detached")
	release := func(id, task string) string {
		t.Helper()
		done, err := worktrees.End(s.ctx, s.b, gitboard.Request{Actor: s.agent[id]}, &board.Release{About: about(task)})
		s.check(err)
		return done.After.Task(task).Last(board.EventCoderReleased).Kept
	}
	if kept, all := release("coder-1", "one"), s.attic("one"); kept != string(detached) || !slices.Equal(all, []plumbing.OID{branch, detached}) {
		t.Errorf("kept %s of %v", kept, all)
	}
	// A branch without a commit, and no files.
	s.git(s.path("two"), "checkout", "-q", "--orphan", "nothing")
	s.git(s.path("two"), "rm", "-rfq", ".")
	s.git(s.dir, "worktree", "remove", "--force", s.path("three"))
	s.deletes(taskRef("three"))
	for coder, task := range map[string]string{"coder-2": "two", "coder-3": "three"} {
		if kept := release(coder, task); kept != "" || len(s.attic(task)) > 0 || !s.ref(taskRef(task)).IsZero() {
			t.Errorf("of %s is kept %q, %v", task, kept, s.attic(task))
		}
	}
	s.lies()
}

// TestKeptAside checks that the changes that a rebase or a merge has put aside, and that a conflict
// keeps there, outlive the worktree.
func TestKeptAside(t *testing.T) {
	for name, stopped := range map[string][]string{"rebase": {"rebase", "--autostash"}, "merge": {"merge", "--autostash"}} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, ready("one"), claimed("coder-1", "one"))
			s.git(s.path("one"), "checkout", "-q", "--detach")
			theirs := s.work("one", "a.txt", "theirs\n")
			s.git(s.path("one"), "checkout", "-q", "task/one")
			s.work("one", "a.txt", "ours\n")
			s.write(s.path("one"), "specs/vision.md", "hours of work\n")
			command := exec.Command("git", append(stopped, string(theirs))...)
			command.Dir = s.path("one")
			if out, err := command.CombinedOutput(); err == nil {
				t.Fatalf("no conflict: %s", out)
			}
			if got := s.read(s.path("one"), "specs/vision.md"); got == "hours of work\n" {
				t.Fatal("not put aside")
			}
			// Content that is only staged can't be kept during a conflict, and is no reason to fail.
			s.write(s.path("one"), "new.txt", "staged\n")
			s.git(s.path("one"), "add", "new.txt")
			s.write(s.path("one"), "new.txt", "later\n")
			_, err := worktrees.End(s.ctx, s.b, gitboard.Request{Actor: s.agent["coder-1"]}, &board.Release{About: about("one")})
			s.check(err)
			s.lies()
			if !slices.ContainsFunc(s.attic("one"), func(c plumbing.OID) bool { return s.file(c, "specs/vision.md") == "hours of work\n" }) {
				t.Errorf("kept %v", s.attic("one"))
			}
		})
	}
}

// TestKeptStaged checks that staged content that is no longer in a file is kept when the worktree
// is removed, and only once.
func TestKeptStaged(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.write(s.path("one"), "new.txt", "staged\n")
	s.git(s.path("one"), "add", "new.txt")
	s.check(os.Remove(filepath.Join(s.path("one"), "new.txt")))
	s.write(s.path("one"), "a.txt", "not staged\n")
	_, err := worktrees.End(s.ctx, s.b, gitboard.Request{Actor: s.agent["coder-1"]}, &board.Release{About: about("one")})
	s.check(err)
	s.lies()
	kept := s.attic("one")
	if len(kept) != 2 || s.file(kept[0], "a.txt") != "not staged\n" || s.file(kept[0], "new.txt") != "" || s.file(kept[1], "new.txt") != "staged\n" {
		t.Errorf("kept %v", kept)
	}
}

// TestEndedNotCleared checks that an operation whose last step fails is committed nevertheless, and
// that its error says what comes of the worktree.
func TestEndedNotCleared(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"), claimed("coder-2", "two"))
	s.do(human(), &board.Block{About: about("two"), Reason: "stop"})
	claims := filepath.Join(s.b.Dir(), "claims")
	s.check(os.RemoveAll(claims))
	s.check(os.WriteFile(claims, nil, 0o644))
	for _, c := range []struct {
		by   board.Actor
		p    board.TaskPayload
		says string
	}{
		{s.agent["coder-1"], &board.Release{About: about("one")}, "the worktree of one could not be removed (the next claim replaces it)"},
		{human(), &board.Abandon{About: about("two"), Reason: "not needed"}, "the worktree of two could not be removed (git liza doctor repairs it)"},
	} {
		done, err := worktrees.End(s.ctx, s.b, gitboard.Request{Actor: c.by, ID: "end-" + c.p.TaskID()}, c.p)
		if done == nil || err == nil || !contains(err.Error(), c.says) {
			t.Errorf("done %+v: %v", done, err)
		}
		done, err = worktrees.End(s.ctx, s.b, gitboard.Request{Actor: c.by, ID: "end-" + c.p.TaskID()}, c.p)
		if err != nil || !done.Repeated {
			t.Errorf("repeated: %+v: %v", done, err)
		}
	}
	s.lies("one", "two")
	s.check(os.Remove(claims))
	s.is("one", board.Unclaimed)
	s.mended(doctor.LeftWorktree)
	s.lies("one")
}
