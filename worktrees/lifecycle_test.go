package worktrees_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/doctor"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// TestRepeatedRequests checks that a repeated request has no second effect.
func TestRepeatedRequests(t *testing.T) {
	s := newScene(t, ready("one"))
	claim := worktrees.ClaimRequest{Request: gitboard.Request{Actor: s.as("coder-1"), ID: "r1"}}
	var commits []string
	for range 2 {
		got := testrun.Must(worktrees.Claim(s.ctx, s.b, claim))(s.t)
		commits = append(commits, string(got.Done.Commit)+got.Path+got.Kind.Event)
	}
	s.preExec("coder-1", "one")
	s.work("one", "b.txt", "b\n")
	for range 2 {
		done, _, err := worktrees.Submit(s.ctx, s.b, worktrees.SubmitRequest{Request: gitboard.Request{Actor: s.as("coder-1"), ID: "r2"}, Task: "one"})
		s.check(err)
		commits = append(commits, string(done.Commit))
	}
	s.verdict("code-reviewer-1", "one", board.VerdictApproved)
	for range 2 {
		got, err := mergeOne(s.ctx, s.b, merge.TrainRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1"), ID: "r3"}, Tasks: []string{"one"}})
		s.check(err)
		commits = append(commits, string(got.Done.Commit)+string(got.Commit)+got.Type)
	}
	for i := 0; i < len(commits); i += 2 {
		testrun.Equal(t, commits[i], commits[i+1], "then")
	}
	_, err := worktrees.Claim(s.ctx, s.b, worktrees.ClaimRequest{Request: gitboard.Request{Actor: s.as("coder-1"), ID: "r2"}})
	s.refused(err, "exists", "as submit")
}

func TestBare(t *testing.T) {
	s := newScene(t, ready("one"), ready("two"))
	s.as("coder-2")
	two := worktrees.ClaimRequest{Request: asked(s, "coder-2"), Task: "two"}
	testrun.Must(worktrees.Claim(s.ctx, s.b, two))(s.t)
	commit := s.approved("coder-1", "one", "b.txt", "b\n")
	bare := filepath.Join(t.TempDir(), "bare.git")
	s.git(s.dir, "clone", "-q", "--bare", s.dir, bare)
	b := s.openAt(bare)
	s.refused(second(s.claims(b, "coder-1", "")), "bare", "this repository is bare")
	_, err := b.Do(s.ctx, gitboard.Request{Actor: human()}, gitboard.Just(&board.SetConfig{Key: "integration_test", Value: "true"}))
	s.refused(err, "elsewhere", "the board here is a copy")
	if own, err := b.Sharing().Own(s.ctx); !own || err != nil {
		t.Fatalf("own: %v, %v", own, err)
	}
	testrun.Must(b.Do(s.ctx, gitboard.Request{Actor: human()}, gitboard.Just(&board.SetConfig{Key: "integration_test", Value: "true"})))(s.t)
	_, err = mergeOne(s.ctx, b, merge.TrainRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1")}, Tasks: []string{"one"}})
	s.refused(err, "bare", "needs a working tree")
	testrun.Must(b.Do(s.ctx, gitboard.Request{Actor: human()}, gitboard.Just(&board.SetConfig{Key: "integration_test"})))(s.t)
	got, err := mergeOne(s.ctx, b, merge.TrainRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1")}, Tasks: []string{"one"}})
	s.check(err)
	if tip, err := b.Repo().Ref(s.ctx, "refs/heads/integration"); !got.Merged || tip != commit || err != nil {
		t.Errorf("merged %+v, integration %s, %v", got, tip, err)
	}
	// git clone copied only branches, so the submission is missing.
	found, err := doctor.Diagnose(s.ctx, b)
	if err != nil || len(found) != 1 || found[0].Kind != doctor.LostSubmission {
		t.Fatalf("%v %v", found, err)
	}
	command, _, _ := strings.Cut(found[0].Hint, ";")
	s.git(b.Repo().CommonDir(), strings.Fields(command)[1:]...)
	if found, err := doctor.Diagnose(s.ctx, b); err != nil || len(found) > 0 {
		t.Errorf("%v %v", found, err)
	}

	// Nor has it any worktree where it was turned into a bare one with tasks in hand.
	clone := testrun.Must(s.b.Clone().ID(s.ctx))(s.t)
	s.write(b.Dir(), "clone", clone)
	b = s.openAt(bare)
	if found, err := doctor.Diagnose(s.ctx, b); err != nil || len(found) > 0 {
		t.Errorf("%v %v", found, err)
	}
	s.refused(second(worktrees.Create(s.ctx, b, "two", nil)), "bare", "git clone")
	s.refused(second(worktrees.Claim(s.ctx, b, two)), "bare", "a worktree needs")
	_, _, err = worktrees.Submit(s.ctx, b, worktrees.SubmitRequest{Request: gitboard.Request{Actor: s.as("coder-2")}, Task: "two"})
	s.refused(err, "bare", "work on a task")
	v := testrun.Must(b.View(s.ctx))(s.t)
	elsewhere := *v.State.Task("two")
	elsewhere.Clone, elsewhere.Status, elsewhere.ReviewCommit = "another", board.ReadyForReview, string(commit)
	path, err := worktrees.ForReview(s.ctx, b, v, &elsewhere)
	if _, missing := os.Stat(path); err != nil || missing == nil {
		t.Errorf("reviewed in %q: %v", path, err)
	}
	s.check(worktrees.Repair(s.ctx, b))
	if out := s.git(bare, "worktree", "list"); len(strings.Split(out, "\n")) != 1 {
		t.Errorf("worktrees: %s", out)
	}
}

// hasSubmodule lands a submodule, which worktree_setup checks out in the worktrees of tasks, and
// returns its remote.
func (s *scene) hasSubmodule() (lib string) {
	s.t.Helper()
	lib = filepath.Join(s.t.TempDir(), "lib")
	s.check(os.MkdirAll(lib, 0o755))
	s.git(lib, "init", "-q", "-b", "main")
	s.write(lib, "lib.txt", "lib\n")
	s.git(lib, "add", ".")
	s.git(lib, "commit", "-qm", "lib")
	side := filepath.Join(s.t.TempDir(), "side")
	s.git(s.dir, "worktree", "add", "-q", "--detach", side, "integration")
	s.git(side, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "lib")
	s.git(side, "commit", "-qm", "with a submodule")
	_, err := merge.Land(s.ctx, s.b, merge.LandRequest{Request: gitboard.Request{Actor: human()}, Commit: s.git(side, "rev-parse", "HEAD")})
	s.check(err)
	s.git(s.dir, "worktree", "remove", "--force", side)
	s.set("worktree_setup", "git -c protocol.file.allow=always submodule --quiet update --init")
	return lib
}

// TestSubmodule covers a submodule that worktree_setup checks out. Git can't move such a worktree.
func TestSubmodule(t *testing.T) {
	s := newScene(t)
	lib := s.hasSubmodule()

	s.task("one")
	got := s.claim("coder-1", "one")
	testrun.Equal(t, s.read(got.Path, "lib/lib.txt"), "lib\n", "the submodule is not checked out")
	s.lies("one")

	// Changes inside the submodule can't be kept in the attic.
	s.write(got.Path, "lib/lib.txt", "work\n")
	_, err := worktrees.End(s.ctx, s.b, gitboard.Request{Actor: s.as("coder-1")}, &board.Release{About: board.About{Task: "one"}})
	s.refused(err, "nested", "lib in the worktree of one is a repository of its own")
	s.git(filepath.Join(got.Path, "lib"), "checkout", "-q", "lib.txt")
	// Commits inside the submodule are kept when the worktree goes, although git would remove them.
	sub := filepath.Join(got.Path, "lib")
	s.git(sub, "checkout", "-q", "-b", "kept")
	s.write(sub, "lib.txt", "kept\n")
	s.git(sub, "commit", "-qam", "kept")
	kept := s.git(sub, "rev-parse", "HEAD")
	s.work("one", "b.txt", "b\n")
	s.write(got.Path, "dirty", "d\n")
	testrun.Must(worktrees.End(s.ctx, s.b, gitboard.Request{Actor: s.as("coder-1")}, &board.Release{About: board.About{Task: "one"}}))(s.t)
	s.lies()
	if kept := s.attic("one"); len(kept) != 1 || s.file(kept[0], "dirty") != "d\n" || s.file(kept[0], "b.txt") != "b\n" {
		t.Errorf("kept %v", kept)
	}
	if at := s.git(s.dir, "--git-dir=.git/liza/modules/one/1/lib", "rev-parse", "kept"); at != kept {
		t.Errorf("kept is at %s, not at %s", at, kept)
	}

	// A submission can't refer to a submodule commit that others can't fetch.
	s.claim("coder-1", "one")
	s.preExec("coder-1", "one")
	s.git(sub, "checkout", "-q", "-b", "mine")
	s.write(sub, "lib.txt", "mine\n")
	s.git(sub, "commit", "-qam", "mine")
	s.work("one", "b.txt", "b\n")
	submit := func() error { return second(s.trySubmit("coder-1", "one")) }
	s.refused(submit(), "nested", "git -C .worktrees/one/lib push origin HEAD:refs/heads/task/one")
	// The commit reached the remote, which the submodule does not know yet.
	s.git(lib, "fetch", "-q", sub, "mine:mine")
	s.git(s.path("one"), "clone", "-q", lib, "other")
	s.git(s.path("one"), "add", "other")
	s.git(s.path("one"), "commit", "-qm", "other"+s.trailers("one"))
	s.refused(submit(), "nested", "no .gitmodules names its address for others")
	s.git(s.path("one"), "rm", "-q", "--cached", "other")
	s.check(os.RemoveAll(filepath.Join(s.path("one"), "other")))
	s.git(s.path("one"), "commit", "-qm", "no other"+s.trailers("one"))
	s.insist(func(ctx context.Context) error {
		_, _, err := worktrees.Submit(ctx, s.b, worktrees.SubmitRequest{Request: gitboard.Request{Actor: s.agent["coder-1"], ID: "submit"}, Task: "one"})
		return err
	})
	s.verdict("code-reviewer-1", "one", board.VerdictApproved)
	s.merge("one")
	s.lies()
	if left, _ := filepath.Glob(filepath.Join(s.dir, ".git/liza/modules/one/*")); len(left) != 1 {
		t.Errorf("kept: %q", left) // the remote has the first commit, not this one
	}
}

// TestChildren counts the git processes of the commonest operations, each in a process of its own.
// They are most of an operation's cost, so another process needs a reason.
func TestChildren(t *testing.T) {
	s := newScene(t, ready("one"))
	coder, reviewer := s.as("coder-1"), s.as("code-reviewer-1")
	counted := func(name string, want int, do func(context.Context, *gitboard.Board) error) {
		t.Helper()
		trace := filepath.Join(t.TempDir(), "trace")
		ctx := gitenv.With(s.ctx, append(os.Environ(), "GIT_TRACE2_EVENT="+trace))
		b := testrun.Must(gitboard.Open(ctx, s.dir, gitboard.Options{Now: s.clock.now, Writes: true}))(s.t)
		s.check(do(ctx, b))
		s.check(b.Close())
		text := testrun.Must(os.ReadFile(trace))(s.t)
		var started []string
		for line := range strings.Lines(string(text)) {
			_, sid, start := strings.Cut(line, `{"event":"start","sid":"`)
			sid, _, _ = strings.Cut(sid, `"`)
			if start && !strings.Contains(sid, "/") { // git's own children have their parent's sid as well
				_, argv, _ := strings.Cut(line, `"argv":`)
				started = append(started, argv)
			}
		}
		if len(started) != want {
			t.Errorf("%s starts %d processes, not %d:\n%s", name, len(started), want, strings.Join(started, ""))
		}
	}
	// Each finds the repository (rev-parse), and needs an identity (var) and a transaction of refs
	// (update-ref); what it reads is at hand.
	counted("claim", 3+2, func(ctx context.Context, b *gitboard.Board) error { // worktree add, symbolic-ref
		_, err := worktrees.Claim(ctx, b, worktrees.ClaimRequest{Request: gitboard.Request{Actor: coder}, Task: "one"})
		return err
	})
	commit := s.submitted("coder-1", "one", "b.txt", "b\n")
	s.do(reviewer, &board.ClaimReview{About: about("one")})
	counted("verdict", 3+1, func(ctx context.Context, b *gitboard.Board) error { // status
		_, err := worktrees.Verdict(ctx, b, worktrees.VerdictRequest{
			Request: gitboard.Request{Actor: reviewer}, Task: "one", Commit: string(commit), Verdict: board.VerdictApproved, Checked: "tests",
		})
		return err
	})
	// A merge also reads objects by other names, and sizes (cat-file).
	counted("merge", 5+3, func(ctx context.Context, b *gitboard.Board) error { // status, ls-files, update-ref of the task's branch
		_, err := merge.Train(ctx, b, merge.TrainRequest{Request: gitboard.Request{Actor: reviewer}, Tasks: []string{"one"}})
		return err
	})
}
