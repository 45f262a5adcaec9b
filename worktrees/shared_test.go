package worktrees_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// shares shares the board of a scene.
func (s *scene) shares(hub string) {
	s.t.Helper()
	s.git(s.dir, "init", "-q", "--bare", hub)
	s.git(s.dir, "remote", "add", "origin", hub)
	s.check(s.b.Sharing().Share(s.ctx, "origin"))
}

// shared shares the board of a scene, and joins it from a second clone.
func (s *scene) shared() *gitboard.Board {
	s.t.Helper()
	dir := s.t.TempDir()
	hub, second := filepath.Join(dir, "hub.git"), filepath.Join(dir, "second")
	s.shares(hub)
	s.git(dir, "clone", "-q", "--branch", "integration", hub, second)
	b := s.openAt(second)
	s.check(b.Sharing().Join(s.ctx, "origin"))
	return b
}

// asks has a coder ask for a task in a clone, and be interrupted at each place until it has it.
func (s *scene) asks(b *gitboard.Board, id, task string) (got *worktrees.Claimed, err error) {
	r := worktrees.ClaimRequest{Request: gitboard.Request{Actor: s.agent[id], ID: id + "/" + task}, Task: task}
	s.t.Helper()
	err = s.tried(func(ctx context.Context) (err error) {
		got, err = worktrees.Claim(ctx, b, r)
		return err
	})
	return got, err
}

// TestShared takes tasks through two clones of a shared board: what one has submitted is reviewed
// and merged in the other, and a task handed back is continued there.
func TestShared(t *testing.T) {
	s := newScene(t, ready("one"), ready("two"))
	for _, id := range []string{"coder-1", "coder-2", "coder-3", "code-reviewer-1"} {
		s.as(id)
	}
	there := s.shared()
	root := there.Repo().TopLevel()
	place := func(task string) string { return filepath.Join(root, ".worktrees", task) }
	fresh := func(b *gitboard.Board) *gitboard.View {
		t.Helper()
		s.check(b.Refresh(s.ctx))
		return testrun.Must(b.View(s.ctx))(s.t)
	}

	// It is reviewed there without a worktree of its author's, and with one of an earlier look.
	s.claim("coder-1", "one")
	commit := s.submitted("coder-1", "one", "b.txt", "b\n")
	s.do(s.as("code-reviewer-1"), &board.ClaimReview{About: about("one")})
	v := fresh(there)
	for range 2 {
		path := testrun.Must(worktrees.ForReview(s.ctx, there, v, v.State.Task("one")))(s.t)
		if head := s.git(path, "rev-parse", "HEAD"); path != place("one") || head != string(commit) {
			t.Errorf("%s is at %s", path, head)
		}
		s.git(path, "checkout", "-q", "--detach", "HEAD~1") // somebody's look
	}
	path, err := worktrees.ForReview(s.ctx, s.b, fresh(s.b), v.State.Task("one"))
	if s.check(err); path != s.path("one") {
		t.Errorf("where it was made, it is reviewed in %s", path)
	}
	approve := worktrees.VerdictRequest{
		Request: gitboard.Request{Actor: s.agent["code-reviewer-1"], ID: "approve"}, Task: "one", Verdict: board.VerdictApproved, Checked: "tests", Commit: string(commit),
	}
	s.git(place("one"), "checkout", "-q", "--detach", string(commit))
	s.insist(func(ctx context.Context) error {
		_, err := worktrees.Verdict(ctx, there, approve)
		return err
	})
	s.insist(func(ctx context.Context) error {
		_, err := merged(merge.Train(ctx, there, merge.TrainRequest{Request: gitboard.Request{Actor: s.agent["code-reviewer-1"], ID: "merge"}, Tasks: []string{"one"}}))
		return err
	})
	moved := false
	s.insist(func(ctx context.Context) error {
		f, err := merge.Follow(ctx, s.b, gitboard.Moment{})
		moved = moved || f.Moved
		return err
	})
	if !moved || s.ref("refs/heads/integration") != commit {
		t.Errorf("integration is at %s, not at %s", s.ref("refs/heads/integration"), commit)
	}
	s.insist(func(ctx context.Context) error {
		_, err := worktrees.TidyAll(ctx, s.b, human()) // one that is interrupted after its last step names no task
		return err
	})
	s.lies()

	// A task that needs it is begun where it was not merged; nobody has told that clone.
	s.task("three", func(p *board.AddTask) { p.DependsOn = []string{"one"} })
	got, err := s.asks(there, "coder-3", "three")
	if s.check(err); s.git(got.Path, "merge-base", "--is-ancestor", string(commit), "HEAD") != "" || got.Path != place("three") {
		t.Errorf("claimed %+v", got)
	}
	s.refused(second(s.asks(s.b, "coder-2", "three")), board.CodeWrongState, "three is CLAIMED")

	// A half-done task continues in that clone, and returns. Each clone keeps the work that no other
	// has.
	testrun.Must(s.asks(s.b, "coder-1", ""))(s.t)
	s.preExec("coder-1", "two")
	half := s.work("two", "c.txt", "half\n")
	s.write(s.path("two"), "left.txt", "left here\n")
	back := func(b *gitboard.Board) {
		t.Helper()
		fresh(b)
		for _, p := range []board.TaskPayload{&board.Block{About: about("two"), Reason: "stop"}, &board.Unblock{About: about("two"), Mode: board.UnblockKeepWork}} {
			testrun.Must(worktrees.End(s.ctx, b, gitboard.Request{Actor: human()}, p))(s.t)
		}
	}
	back(s.b)
	got, err = s.asks(there, "coder-2", "two")
	if s.check(err); s.git(got.Path, "rev-parse", "HEAD") != string(half) {
		t.Errorf("claimed %+v", got)
	}
	fresh(s.b)
	s.refused(s.handOff("coder-2", "two"), board.CodeDirty, "left.txt")
	s.write(got.Path, "d.txt", "the rest\n")
	rest := s.commitAll(got.Path, "the rest"+"\n\nLiza-Task: two\nLiza-Agent: coder-2\n")
	back(there)
	got, err = s.asks(s.b, "coder-1", "two")
	if s.check(err); s.ref(taskRef("two")) != rest || s.git(got.Path, "status", "--porcelain") != "" || s.read(got.Path, "d.txt") != "the rest\n" {
		t.Errorf("the work of the other clone is not here: %+v", got)
	}
	if kept := s.attic("two"); len(kept) != 1 || s.file(kept[0], "left.txt") != "left here\n" {
		t.Errorf("kept %v", kept)
	}
	// What other clones hold is no problem of this one.
	s.deletes("refs/liza/attic/two/1")
	s.mended()
	if _, err := os.Stat(s.path("three")); !os.IsNotExist(err) {
		t.Errorf("the worktree of another clone is here: %v", err)
	}
}

// TestSharedNews checks a clone's treatment of news: a task added in another clone is claimed, and
// only work in this clone is shown to others.
func TestSharedNews(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.as("coder-2")
	there := s.shared()
	human := gitboard.Request{Actor: human()}
	add := &board.AddTask{About: about("late"), Ready: true, NoSpecFile: true, Definition: board.Definition{
		Description: "Task late", DoneWhen: "exit code 0", Scope: "a.txt", SpecRef: "specs/vision.md", Kind: board.Code, Priority: 3,
	}}
	testrun.Must(there.Do(s.ctx, human, gitboard.Just(add)))(s.t)
	s.claim("coder-2", "late")
	s.refused(second(s.claims(s.b, "coder-3", "")), board.CodeNoWork, "nothing to claim for coder-3")

	shares := func(b *gitboard.Board, want plumbing.OID) {
		t.Helper()
		v := testrun.Must(b.View(s.ctx))(s.t)
		updates, err := worktrees.Share(s.ctx, b, v, v.State.Task("one"))
		if s.check(err); want == "" && len(updates) > 0 || want != "" && (len(updates) != 1 || updates[0].New != want) {
			t.Errorf("shared: %+v, not %q", updates, want)
		}
	}
	s.checkpoint("coder-1", "one")
	commit := s.work("one", "b.txt", "b\n")
	shares(s.b, commit)
	s.check(there.Refresh(s.ctx))
	shares(there, "")

	submit := worktrees.SubmitRequest{Request: gitboard.Request{Actor: s.agent["coder-1"], ID: "submit"}, Task: "one"}
	s.deletes(taskRef("one"))
	shares(s.b, "") // that it is missing here hides nothing
	_, _, err := worktrees.Submit(s.ctx, s.b, submit)
	s.refused(err, board.CodeMissing, "the branch task/one is missing")
	s.git(s.dir, "update-ref", taskRef("one"), s.git(s.dir, "commit-tree", "-m", "apart", string(commit)+"^{tree}"))
	_, _, err = worktrees.Submit(s.ctx, s.b, submit)
	s.refused(err, board.CodeUnrelated, "no commit in common")
	s.git(s.dir, "update-ref", taskRef("one"), string(commit))
	s.insist(func(ctx context.Context) error {
		_, _, err := worktrees.Submit(ctx, s.b, submit)
		return err
	})
	s.is("one", board.ReadyForReview)
	if at, err := there.Repo().Ref(s.ctx, "refs/heads/task/one"); err != nil || !at.IsZero() {
		t.Errorf("a branch is made where nobody works on it: %s %v", at, err)
	}
}

// slowHub is a remote that takes the first push only when it is let.
type slowHub struct {
	*scene
	open, asked string // files
	all         sync.WaitGroup
	pending     int
}

// slow shares the board by a slow hub.
func (s *scene) slow() *slowHub {
	s.t.Helper()
	there := s.shared()
	hub := s.git(there.Repo().TopLevel(), "remote", "get-url", "origin")
	h := &slowHub{scene: s, open: filepath.Join(s.t.TempDir(), "open"), asked: filepath.Join(s.t.TempDir(), "asked")}
	s.check(os.MkdirAll(filepath.Join(hub, "hooks"), 0o755))
	s.check(testrun.WriteProgram(filepath.Join(hub, "hooks", "pre-receive"), "#!/bin/sh\nwhile [ ! -e '"+h.open+"' ]; do sleep 0.01; done\n"))
	for _, service := range []string{"upload-pack", "receive-pack"} {
		script := filepath.Join(s.t.TempDir(), service)
		s.check(testrun.WriteProgram(script, "#!/bin/sh\necho "+service+" >>'"+h.asked+"'\nexec git-"+service+" \"$@\"\n"))
		s.git(s.dir, "config", "remote.origin."+strings.ReplaceAll(service, "-", ""), script)
	}
	s.t.Cleanup(func() { _ = os.WriteFile(h.open, nil, 0o644) }) // ends the hook after a failure
	return h
}

// begin acts until one more transaction is pending.
func (h *slowHub) begin(act func(b *gitboard.Board) error) {
	h.t.Helper()
	own := h.openAt(h.dir)
	h.all.Go(func() {
		testrun.ErrorIs(h.t, act(own), nil, "it ends")
	})
	h.pending++
	for ; h.ctx.Err() == nil; time.Sleep(time.Millisecond) {
		if n, err := h.b.Sharing().Pending(h.ctx); err == nil && n == h.pending {
			return
		}
	}
	h.t.Fatalf("there are never %d pending operations", h.pending)
}

// end lets the hub take pushes, and returns what it was asked for.
func (h *slowHub) end() string {
	h.t.Helper()
	h.check(os.WriteFile(h.open, nil, 0o644))
	h.all.Wait()
	return string(testrun.Must(os.ReadFile(h.asked))(h.t))
}

// TestMergeBehindItsApproval checks that the merge lease travels with the approval that a remote has
// yet to take, that the test runs meanwhile, and that the remote is asked no more than for that and
// for the landing.
func TestMergeBehindItsApproval(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), submitted("coder-1", "one", "b.txt", "b\n"))
	commit := plumbing.OID(s.state().Task("one").ReviewCommit)
	s.do(s.as("code-reviewer-1"), &board.ClaimReview{About: about("one")})
	tested := filepath.Join(t.TempDir(), "tested")
	h := s.slow()
	h.begin(func(b *gitboard.Board) error {
		_, err := b.Do(s.ctx, gitboard.Request{Actor: human()}, gitboard.Just(&board.SetConfig{Key: "integration_test", Value: "cat b.txt >>'" + tested + "'"}))
		return err
	})
	reviewer := gitboard.Request{Actor: s.agent["code-reviewer-1"]}
	h.begin(func(b *gitboard.Board) error {
		_, err := worktrees.Verdict(s.ctx, b, worktrees.VerdictRequest{Request: reviewer, Task: "one", Verdict: board.VerdictApproved, Checked: "tests", Commit: string(commit)})
		return err
	})
	h.begin(func(b *gitboard.Board) error {
		_, err := merge.Train(s.ctx, b, merge.TrainRequest{Request: reviewer, Tasks: []string{"one"}})
		return err
	})
	s.appears(tested)
	testrun.Equal(t, h.end(), strings.Repeat("receive-pack\n", 3), "the remote was asked for")
	if v := s.state(); v.Task("one").Status != board.Merged {
		t.Errorf("it is %s", v.Task("one").Status)
	}
	testrun.Equal(t, s.read(filepath.Dir(tested), "tested"), "b\n", "it was tested as")
}

// TestClaimBehindAMerge checks that a claim travels with the merge that it follows from, and begins
// with the merged work.
func TestClaimBehindAMerge(t *testing.T) {
	s := newScene(t, ready("one"), approved("coder-1", "one", "b.txt", "b\n"))
	s.task("two", func(p *board.AddTask) { p.DependsOn = []string{"one"} })
	reviewer, coder := gitboard.Request{Actor: s.as("code-reviewer-1")}, gitboard.Request{Actor: s.as("coder-2")}
	h := s.slow()
	h.begin(func(b *gitboard.Board) error {
		_, err := merge.Train(s.ctx, b, merge.TrainRequest{Request: reviewer, Tasks: []string{"one"}})
		return err
	})
	h.begin(func(b *gitboard.Board) error {
		_, err := worktrees.Claim(s.ctx, b, worktrees.ClaimRequest{Request: coder, Task: "two"})
		return err
	})
	if got := h.end(); strings.Count(got, "receive-pack") != 2 {
		t.Errorf("the remote was asked for %q", got)
	}
	s.is("two", board.Claimed)
	testrun.Equal(t, s.read(s.path("two"), "b.txt"), "b\n", "it is begun without what it depends on")
}
