package worktrees_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/doctor"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// TestUnreadableClone checks that nothing is done, or said of this clone, while it can't be read
// which clone it is: its tasks would be taken for those of another one.
func TestUnreadableClone(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	coder, ada := gitboard.Request{Actor: s.as("coder-1")}, human()
	v := testrun.Must(s.b.View(s.ctx))(s.t)
	one := v.State.Task("one")
	file := filepath.Join(s.b.Dir(), "clone")
	id := s.read("", file)
	s.check(os.Remove(file))
	s.check(os.Mkdir(file, 0o755))
	before := s.git(s.dir, "for-each-ref")
	for name, do := range map[string]func() error{
		"claim":    func() error { return second(worktrees.Claim(s.ctx, s.b, worktrees.ClaimRequest{Request: coder})) },
		"create":   func() error { return second(worktrees.Create(s.ctx, s.b, "one", &ada)) },
		"delete":   func() error { return worktrees.Delete(s.ctx, s.b, ada, "one") },
		"diagnose": func() error { return second(doctor.Diagnose(s.ctx, s.b)) },
		"end":      func() error { return second(worktrees.End(s.ctx, s.b, coder, &board.Release{About: about("one")})) },
		"hand off": func() error {
			return second(worktrees.HandOff(s.ctx, s.b, worktrees.HandOffRequest{Request: coder, HandOff: board.HandOff{About: about("one"), Summary: "s", NextAction: "n"}}))
		},
		"list":       func() error { return second(worktrees.List(s.ctx, s.b)) },
		"concerning": func() error { return second(doctor.Concerning(s.ctx, s.b, "one")) },
		"repair":     func() error { return worktrees.Repair(s.ctx, s.b) },
		"review":     func() error { return second(worktrees.ForReview(s.ctx, s.b, v, one)) },
		"share":      func() error { return second(worktrees.Share(s.ctx, s.b, v, one)) },
		"status":     func() error { return second(worktrees.StatusOf(s.ctx, s.b, "one")) },
		"here":       func() error { return second(worktrees.StatusHere(s.ctx, s.b, one)) },
		"submit":     func() error { return second(s.trySubmit("coder-1", "one")) },
		"tidy":       func() error { return worktrees.Tidy(s.ctx, s.b, v, ada, "one") },
		"tidy all":   func() error { return second(worktrees.TidyAll(s.ctx, s.b, ada)) },
		"unlock":     func() error { return second(worktrees.Unlock(s.ctx, s.b, "one")) },
		"verdict": func() error {
			return second(worktrees.Verdict(s.ctx, s.b, worktrees.VerdictRequest{Request: coder, Task: "one", Verdict: board.VerdictApproved}))
		},
	} {
		if err := do(); !errors.Is(err, syscall.EISDIR) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := s.git(s.dir, "for-each-ref"); after != before {
		t.Errorf("refs\n%s\nwere\n%s", after, before)
	}
	s.check(os.Remove(file))
	s.write(s.b.Dir(), "clone", id)
	s.lies("one")
}

func second[T any](_ T, err error) error { return err }

// TestUnreadableFolders checks that a diagnosis is not sound that could not look everywhere.
func TestUnreadableFolders(t *testing.T) {
	s := newScene(t, ready("one"))
	path := filepath.Join(s.b.Dir(), "claims")
	s.check(os.RemoveAll(path))
	s.check(os.WriteFile(path, nil, 0o644))
	if found, err := doctor.Diagnose(s.ctx, s.b); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("%s: found %+v, %v", path, found, err)
	}
	s.check(os.Remove(path))
	s.check(os.RemoveAll(filepath.Join(s.dir, ".worktrees")))
	s.check(os.WriteFile(filepath.Join(s.dir, ".worktrees"), nil, 0o644))
	s.reports(found{doctor.UnknownWorktree, "", false, "move it elsewhere"})
	s.refused(worktrees.Repair(s.ctx, s.b), board.CodeInTheWay, "")
	s.check(os.Remove(filepath.Join(s.dir, ".worktrees")))
	s.check(worktrees.Repair(s.ctx, s.b)) // nothing was ever made
}

// TestConcerning checks which problems are those of one task: a supervisor repairs no others.
func TestConcerning(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	common := s.b.Repo().CommonDir()
	concerns := testrun.Must(doctor.Concerning(s.ctx, s.b, "one"))(s.t)
	for _, c := range []struct {
		p    doctor.Problem
		want bool
	}{
		{doctor.Problem{Kind: doctor.MissingBranch, Task: "one"}, true},
		{doctor.Problem{Kind: doctor.MissingBranch, Task: "two"}, false},
		{doctor.Problem{Kind: doctor.DamagedRecord, Path: filepath.Join(common, "worktrees", "two")}, true},
		{doctor.Problem{Kind: doctor.UnknownWorktree, Path: s.path("one")}, true},
		{doctor.Problem{Kind: doctor.UnknownWorktree, Path: s.path("two")}, false},
		{doctor.Problem{Kind: doctor.StaleLock, Path: filepath.Join(common, "refs/heads/task/one.lock")}, true},
		{doctor.Problem{Kind: doctor.StaleLock, Path: filepath.Join(common, "refs/heads/task/two.lock")}, false},
		{doctor.Problem{Kind: doctor.StaleLock, Path: filepath.Join(s.gitDirOf("one"), "index.lock")}, true},
		{doctor.Problem{Kind: doctor.ExpiredMerge}, false},
	} {
		if got := concerns(c.p); got != c.want {
			t.Errorf("%+v: %v", c.p, got)
		}
	}
}

// TestList checks that existing worktrees and those expected by the board are listed.
func TestList(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"), claimed("coder-2", "two"), ready("waits"), ready("elsewhere"))
	s.check(os.RemoveAll(s.path("two")))
	for _, path := range []string{s.testPlace(), s.path("con"), filepath.Join(t.TempDir(), "one")} {
		s.git(s.dir, "worktree", "add", "-q", "--detach", path, "integration")
	}
	s.do(s.as("coder-3"), &board.Claim{About: about("elsewhere"), Clone: "another", BaseCommit: string(s.ref("refs/heads/integration"))})
	for _, record := range []string{"with git's record", "without"} {
		var listed []string
		for _, e := range testrun.Must(worktrees.List(s.ctx, s.b))(s.t) {
			listed = append(listed, fmt.Sprint(e.Task, " ", filepath.Base(e.Path), " ", e.Exists))
		}
		slices.Sort(listed)
		if want := []string{" con true", "one one true", "two two false"}; !slices.Equal(listed, want) {
			t.Errorf("%s: %q, not %q", record, listed, want)
		}
		s.git(s.dir, "worktree", "prune")
	}
}

// TestBrokenRefIsNoAnswer checks that a ref whose value can't be read is not taken for a missing
// one: whatever needs it fails, moves no ref, and leaves the worktrees as they are.
func TestBrokenRefIsNoAnswer(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"), ready("three"), approved("coder-3", "three", "c.txt", "c\n"))
	coder, other := gitboard.Request{Actor: s.as("coder-1")}, gitboard.Request{Actor: s.as("coder-2")}
	reviewer := gitboard.Request{Actor: s.as("code-reviewer-1")}
	s.checkpoint("coder-1", "one")
	s.work("one", "b.txt", "b\n")
	s.write(s.path("one"), "left.txt", "nowhere else\n")
	v, ada := testrun.Must(s.b.View(s.ctx))(s.t), human()
	over := *v.State.Task("one") // as if it were over
	over.Status = board.Abandoned
	plan := board.PreExec{About: about("one"), Checkpoint: board.Checkpoint{Intent: "i", Validation: "v", FilesToModify: []string{"a.txt"}}}
	next := s.git(s.dir, "commit-tree", "-m", "next", "-p", "integration", "integration^{tree}")
	end := func() error { return second(worktrees.End(s.ctx, s.b, coder, &board.Release{About: about("one")})) }
	claim := func() error {
		return second(worktrees.Claim(s.ctx, s.b, worktrees.ClaimRequest{Request: other, Task: "two"}))
	}
	merges := func(tasks ...string) func() error {
		return func() error {
			return second(merge.Train(s.ctx, s.b, merge.TrainRequest{Request: reviewer, Tasks: tasks}))
		}
	}
	status := func(task string) func() error {
		return func() error { return second(worktrees.StatusOf(s.ctx, s.b, task)) }
	}
	tidy := func() error { return worktrees.Tidy(s.ctx, s.b, v, ada, "one") }
	land := func() error { return s.lands(s.b, plumbing.OID(next)) }
	for _, c := range []struct {
		ref   string
		fails map[string]func() error
	}{
		{taskRef("one"), map[string]func() error{
			"end":        end,
			"submit":     func() error { return second(s.trySubmit("coder-1", "one")) },
			"checkpoint": func() error { return second(worktrees.PreExec(s.ctx, s.b, coder, plan)) },
			"fresh":      func() error { return second(worktrees.Create(s.ctx, s.b, "one", &ada)) },
			"tidy":       tidy,
			"later": func() error {
				_, _, err := worktrees.Later(s.ctx, s.b, v, &over)
				return err
			},
		}},
		{taskRef("two"), map[string]func() error{"claim": claim, "status": status("two")}},
		{"refs/heads/integration", map[string]func() error{
			"claim": claim, "end": end, "status": status("one"), "tidy": tidy, "merge": merges("three"), "merge all": merges(), "land": land,
			"diagnose": func() error { return second(merge.Diagnose(s.ctx, s.b, ada)) },
			"finish":   func() error { return second(merge.Finish(s.ctx, s.b, ada)) },
			"retry":    func() error { return second(merge.Retry(s.ctx, s.b, reviewer, "three")) },
		}},
		{plumbing.LeaseRef(plumbing.MergeHolder), map[string]func() error{"merge": merges("three"), "land": land}},
	} {
		file := filepath.Join(s.b.Repo().CommonDir(), filepath.FromSlash(c.ref))
		was, err := os.ReadFile(file)
		s.breaks(c.ref, "garbage\n")
		before := s.git(s.dir, "for-each-ref")
		for name, do := range c.fails {
			failed := do()
			if broken := (*git.BrokenRefError)(nil); !errors.As(failed, &broken) || broken.Ref != c.ref {
				t.Errorf("%s with a broken %s: %v", name, c.ref, failed)
			}
			if after := s.git(s.dir, "for-each-ref"); after != before {
				t.Errorf("%s with a broken %s: refs\n%s\nwere\n%s", name, c.ref, after, before)
			}
		}
		s.lies("one", "three")
		if s.read(s.path("one"), "left.txt") == "" {
			t.Fatal("uncommitted work is gone")
		}
		s.check(os.Remove(file))
		if err == nil {
			s.check(os.WriteFile(file, was, 0o644))
		}
	}
	s.is("one", board.Claimed)
	s.is("three", board.Approved)
}
