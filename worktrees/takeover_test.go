package worktrees_test

import (
	"context"
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
	s.refused(second(s.claims(s.b, "coder-2", "one")), "nested", "clone/ in the worktree of one")
	if got := s.claim("coder-2", ""); got.Task.ID != "two" {
		t.Errorf("claimed %s", got.Task.ID)
	}
	s.refused(second(s.claims(s.b, "coder-3", "")), "nested", "push its work or move it")
	swept, err := worktrees.Sweep(s.ctx, s.b, human(), "")
	if err != nil || len(swept) != 1 || swept[0].Skipped == "" {
		t.Errorf("swept %+v %v", swept, err)
	}
	testrun.Equal(t, s.read(s.path("one"), "clone/precious"), "p\n", "it's lost")
}

// TestInTheWay checks that branches and checkouts of others are left alone.
func TestInTheWay(t *testing.T) {
	s := newScene(t, ready("one"))
	claim := func() error {
		return second(s.claims(s.b, "coder-1", ""))
	}
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
	s.refused(second(s.claims(s.b, "coder-1", "one")), "in-the-way", "git branch -m task/one NAME")
	s.git(s.dir, "branch", "-m", "task/one", "mine")
	got := s.claim("coder-1", "")
	if kept := s.attic("one"); len(kept) != 0 || s.ref("refs/heads/mine") != own || got.Task.BaseCommit == string(own) {
		t.Errorf("kept %v", kept)
	}

	// A branch that is checked out elsewhere is left alone.
	s.git(s.path("one"), "checkout", "-q", "--detach")
	s.git(s.dir, "worktree", "add", "-q", side, "task/one")
	_, err := worktrees.End(s.ctx, s.b, gitboard.Request{Actor: human()}, &board.Release{About: board.About{Task: "one"}, Force: true, Reason: "r"})
	s.check(err)
	s.lies()
	if s.ref(taskRef("one")).IsZero() {
		t.Error("a branch was deleted under a human's checkout")
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
				return second(s.claims(s.b, "coder-2", "one"))
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

// TestKeptAside checks that the changes that a rebase or a merge has put aside, and that a conflict
// keeps there, outlive the worktree.
func TestKeptAside(t *testing.T) {
	for name, stopped := range testrun.Some(2, map[string][]string{"rebase": {"rebase", "--autostash"}, "merge": {"merge", "--autostash"}}) {
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
			testrun.Must(worktrees.End(s.ctx, s.b, gitboard.Request{Actor: s.agent["coder-1"]}, &board.Release{About: about("one")}))(s.t)
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
	testrun.Must(worktrees.End(s.ctx, s.b, gitboard.Request{Actor: s.agent["coder-1"]}, &board.Release{About: about("one")}))(s.t)
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

// TestBranchOfNoTask covers a branch that only has the name of a task branch. It is a human's, and
// is left alone when a task ends that was never claimed.
func TestBranchOfNoTask(t *testing.T) {
	s := newScene(t, ready("one"))
	own := s.git(s.dir, "commit-tree", "-p", "main", "-m", "mine", "main^{tree}")
	s.git(s.dir, "branch", "task/one", own)
	s.git(s.dir, "branch", "task/no-task", own)
	done := testrun.Must(worktrees.End(s.ctx, s.b, gitboard.Request{Actor: human()}, &board.Abandon{About: about("one"), Reason: "r"}))(s.t)
	if p := s.problems(); len(p) > 0 {
		t.Errorf("problems: %+v", p)
	}
	tidied := testrun.Must(worktrees.TidyAll(s.ctx, s.b, human()))(s.t)
	s.check(worktrees.Tidy(s.ctx, s.b, done.View, human(), "one"))
	if len(tidied) > 0 || string(s.ref(taskRef("one"))) != own || string(s.ref(taskRef("no-task"))) != own || len(s.attic("one")) > 0 {
		t.Errorf("tidied %v", tidied)
	}
}

// TestTheirs checks that a person's files at the place of a task's worktree stay as they are,
// whatever happens to the task.
func TestTheirs(t *testing.T) {
	add := func(args ...string) func(*scene) {
		return func(s *scene) {
			s.git(s.dir, append(append([]string{"worktree", "add", "-q"}, args...), s.path("one"), "integration")...)
		}
	}
	for name, put := range testrun.Some(3, map[string]func(*scene){
		"a worktree on a branch": add("-b", "mine"),
		"a detached worktree":    add("--detach"),
		"a locked worktree": func(s *scene) {
			add("--lock", "-b", "mine")(s)
		},
		"a worktree in a rebase": func(s *scene) {
			add("-b", "mine")(s)
			s.git(s.path("one"), "-c", "sequence.editor=echo break >", "rebase", "-q", "-i", "HEAD")
		},
		"a clone":      func(s *scene) { s.git(s.dir, "clone", "-q", s.dir, s.path("one")) },
		"files":        func(s *scene) {},
		"a link":       func(s *scene) { s.check(os.Symlink(t.TempDir(), s.path("one"))) },
		"ours, locked": func(s *scene) { s.ours("one"); s.git(s.dir, "worktree", "lock", s.path("one")) },
		"ours, on another branch": func(s *scene) {
			s.ours("one")
			s.git(s.path("one"), "switch", "-q", "-c", "mine")
		},
	}) {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, ready("one"))
			s.check(s.b.Repo().Settings().Exclude("/.worktrees/"))
			s.check(os.MkdirAll(filepath.Join(s.dir, ".worktrees"), 0o755))
			put(s)
			s.write(s.path("one"), "secret.env", "mine\n")
			untouched := func() {
				t.Helper()
				testrun.Equal(t, s.read(s.path("one"), "secret.env"), "mine\n", "it holds")
			}
			s.refused(second(s.claims(s.b, "coder-1", "one")), board.CodeInTheWay, "one")
			untouched()
			s.do(human(), &board.Abandon{About: about("one"), Reason: "not needed"})
			s.refused(worktrees.Delete(s.ctx, s.b, human(), "one"), board.CodeInTheWay, "one")
			s.check(cutFixes(s))
			untouched()
		})
	}
}

// ours makes a worktree at the place of a task's, as a claim does.
func (s *scene) ours(task string) {
	s.t.Helper()
	s.check(s.b.Repo().Worktree(s.path(task)).Add(s.ctx, s.ref("refs/heads/integration")))
}

// cutFixes carries out all repairs, which may leave problems.
func cutFixes(s *scene) error {
	found := testrun.Must(doctor.Diagnose(s.ctx, s.b))(s.t)
	_, err := fixAll(context.WithoutCancel(s.ctx), found)
	return err
}

// TestTheirsKeepsTheBranch checks that a task's branch stays that a person has checked out at the
// task's place, and that repair takes the worktree over while the task is in this clone.
func TestTheirsKeepsTheBranch(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.git(s.dir, "worktree", "remove", "--force", s.path("one"))
	s.git(s.dir, "worktree", "add", "-q", s.path("one"), "task/one")
	s.reports(found{doctor.MissingWorktree, "one", false, "git liza worktree repair"})
	s.check(s.tidy("one"))
	if s.ref(taskRef("one")).IsZero() {
		t.Error("the branch is deleted")
	}
	s.check(worktrees.Repair(s.ctx, s.b))
	s.reports()
}

// TestTheirsIsNotTidied checks that a person's worktree of a finished task is named as left.
func TestTheirsIsNotTidied(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.abandons("one")
	s.git(s.dir, "worktree", "add", "-q", "-b", "task/one", s.path("one"), "integration")
	s.b.TakeMentions()
	tidied := testrun.Must(worktrees.TidyAll(s.ctx, s.b, human()))(s.t)
	want := []string{"not tidied: the worktree " + s.path("one") + " was not made by git liza, and is in the way of one"}
	if got := s.b.TakeMentions(); len(tidied) > 0 || !slices.Equal(got, want) {
		t.Errorf("tidied %q, mentioned %q", tidied, got)
	}
}

// TestTheirsAtTheTest checks that a person's worktree at the place of the integration test stays.
func TestTheirsAtTheTest(t *testing.T) {
	s := newScene(t, ready("one"), approved("coder-1", "one", "b.txt", "b\n"))
	s.set("integration_test", "true")
	place := s.testPlace()
	s.git(s.dir, "worktree", "add", "-q", "-b", "mine", place, "integration")
	s.write(place, "secret.env", "mine\n")
	s.refused(s.mergeErr("one"), board.CodeInTheWay, "was not made by git liza")
	testrun.Equal(t, s.read(place, "secret.env"), "mine\n", "it holds")
}
