package worktrees

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// ready adds a claimable task to a goal of the board, "" for the only one.
func (s *Project) ready(t *testing.T, ctx context.Context, id, goal string) *gitboard.View {
	t.Helper()
	done, err := s.b.Do(ctx, gitboard.Request{Actor: board.HumanActor("Ada", "ada@example.org")}, gitboard.Just(&board.AddTask{
		About: board.About{Task: id}, Goal: goal, Ready: true, NoSpecFile: true,
		Definition: board.Definition{Description: "Task " + id, DoneWhen: "exit code 0", Scope: "a.txt", SpecRef: "specs/vision.md", Kind: board.Code, Priority: 3},
	}))
	must(t, err)
	return done.View
}

// coder registers coder-1.
func (s *Project) coder(t *testing.T, ctx context.Context) board.Actor {
	t.Helper()
	_, coder, err := s.b.Sessions().Register(ctx, "coder-1", "", gitboard.Process{PID: 7})
	must(t, err)
	return coder
}

// TestNothingToDo checks that steps do nothing where there is nothing to do any more.
func TestNothingToDo(t *testing.T) {
	ctx, s, commits := began(t)
	must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: plumbing.ReviewRef("one", 1), New: commits[0]}}, ""))
	// A ref that another process has moved is tried again.
	if done, err := s.moved(ctx, []plumbing.RefUpdate{{Ref: plumbing.ReviewRef("one", 1), Old: commits[1], New: commits[2]}}); done || err != nil {
		t.Errorf("moved: %v %v", done, err)
	}
	c := &candidate{s: s, token: "aaaa"}
	must(t, c.note("one"))
	must(t, s.moveBack(ctx, c, filepath.Join(s.Folder(), goneMark+"aaaa"), s.Path("one")))
	if present(c.recordFile()) {
		t.Error("the record of a worktree that is gone is left")
	}
	if !CutShort(&git.CommandError{Err: errors.New("killed")}) || CutShort(&git.CommandError{}) {
		t.Error("a child that was killed is no answer, and one that failed is")
	}
}

// TestNoIdentity checks that work of a person whom git does not know is not kept in nobody's name.
func TestNoIdentity(t *testing.T) {
	ctx, known, commits := began(t)
	v := known.boarded(t, ctx, commits)
	for _, key := range []string{"GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(key, "")
	}
	b, err := gitboard.Open(ctx, known.Root, gitboard.Options{}) // which has not asked git yet
	must(t, err)
	defer b.Close()
	s := testrun.Must(Open(ctx, b))(t)
	must(t, s.repo.Worktree(s.Path("one")).Add(ctx, commits[0]))
	must(t, os.WriteFile(filepath.Join(s.Path("one"), "new"), nil, 0o644))
	for name, do := range map[string]func() error{
		"a snapshot": func() error {
			_, err := s.take(ctx, v, s.Path("one"), s.Path("one"), "one", board.HumanActor("", ""), nil)
			return err
		},
		"a merge": func() error {
			_, err := s.MergeIntegration(ctx, v, "one", s.Path("one"), board.HumanActor("", ""))
			return err
		},
		"a name without an address": func() error { _, err := s.sign(ctx, board.HumanActor("Ada", "")); return err },
	} {
		refused := (*board.Refusal)(nil)
		if err := do(); !errors.As(err, &refused) || refused.Code != board.CodeIdentity {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestClaimDecided checks when a claim that was prepared is not committed as it was.
func TestClaimDecided(t *testing.T) {
	ctx, s, commits := began(t)
	s.boarded(t, ctx, commits)
	s.ready(t, ctx, "one", "")
	coder := s.coder(t, ctx)
	v := testrun.Must(s.b.View(ctx))(t)
	one := v.State.Task("one")
	claim := func() *claimer {
		t.Helper()
		c := &claimer{Project: s, r: ClaimRequest{Request: gitboard.Request{Actor: coder}}, task: "one", kind: board.KindOfClaim(one, coder.ID)}
		must(t, c.prepare(ctx, v, one))
		return c
	}
	decided := func(c *claimer) error {
		t.Helper()
		_, _, err := c.intent(ctx, v)
		must(t, c.candidate.discard(ctx))
		return err
	}
	must(t, decided(claim()))
	branch := plumbing.RefUpdate{Ref: "refs/heads/task/one", New: commits[0]}
	for name, change := range map[string]func(c *claimer){
		"of another kind":                     func(c *claimer) { c.kind = board.ClaimKind{} },
		"of a task whose history has gone on": func(c *claimer) { c.events++ },
		"whose branch was made":               func(*claimer) { must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{branch}, "")) },
		"whose place in the attic is taken": func(c *claimer) {
			c.kept.refs = []plumbing.RefUpdate{branch}
			c.kept.tip = commits[0]
		},
		"whose worktree was made": func(*claimer) { must(t, s.repo.Worktree(s.Path("one")).Add(ctx, commits[0])) },
	} {
		c := claim()
		change(c)
		testrun.ErrorIs(t, decided(c), errChanged, "a claim %s", name)
		_ = s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: branch.Ref, Old: commits[0]}}, "")
		if present(s.Path("one")) {
			must(t, s.repo.Worktree(s.Path("one")).Remove(ctx))
		}
	}
	refused := (*board.Refusal)(nil)
	c := claim()
	c.task = "none"
	if err := decided(c); !errors.As(err, &refused) || refused.Code != board.CodeUnknownTask {
		t.Errorf("of a task that is not there: %v", err)
	}
	must(t, s.repo.Worktree(s.Path("one")).Add(ctx, commits[0]))
	must(t, os.RemoveAll(s.claimsDir()))
	must(t, os.WriteFile(s.claimsDir(), nil, 0o644))
	if err := (&claimer{Project: s, task: "one"}).prepare(ctx, v, one); err == nil {
		t.Error("the worktree that it replaces could not be noted")
	}
}

// TestIntentsWriteNothing checks that the intents of a claim, a release, a submission and a hand-off
// write no file, however often they are decided: the steps before them store the work in a worktree,
// or look at it.
func TestIntentsWriteNothing(t *testing.T) {
	ctx, s, commits := began(t)
	s.boarded(t, ctx, commits)
	s.ready(t, ctx, "one", "")
	s.ready(t, ctx, "two", "")
	r := gitboard.Request{Actor: s.coder(t, ctx)}
	pure := func(v *gitboard.View, intents func() map[string]gitboard.Intent) {
		t.Helper()
		before := testrun.Files(t, s.Root)
		for range 2 {
			for name, intent := range intents() {
				if _, refs, err := intent(ctx, v); err != nil || len(refs) == 0 {
					t.Errorf("%s: %v, %v", name, refs, err)
				}
				if after := testrun.Files(t, s.Root); !maps.Equal(before, after) {
					t.Errorf("%s wrote:\n%v\nwere\n%v", name, after, before)
				}
			}
		}
	}
	v := testrun.Must(s.b.View(ctx))(t)
	one := v.State.Task("one")
	must(t, s.repo.Worktree(s.Path("one")).Add(ctx, commits[0]))
	must(t, os.WriteFile(filepath.Join(s.Path("one"), "late"), []byte("work\n"), 0o644))
	c := &claimer{Project: s, r: ClaimRequest{Request: r}, task: "one", kind: board.KindOfClaim(one, r.Actor.ID)}
	must(t, c.prepare(ctx, v, one))
	ada := gitboard.Request{Actor: board.HumanActor("Ada", "ada@example.org")}
	e := &ending{Project: s, r: ada, p: &board.Abandon{About: board.About{Task: "one"}, Reason: "not needed"}}
	must(t, e.prepare(ctx))
	if c.kept.commit == "" || e.kept == nil || e.kept.commit == "" {
		t.Fatalf("kept %+v and %+v", c.kept, e.kept)
	}
	pure(v, func() map[string]gitboard.Intent {
		return map[string]gitboard.Intent{"claim": c.intent, "abandon": e.intent}
	})

	claimed := testrun.Must(Claim(ctx, s.b, ClaimRequest{Request: r, Task: "two"}))(t)
	must(t, os.WriteFile(filepath.Join(s.Path("two"), "a_test.go"), []byte("package a\n"), 0o644))
	testrun.CommitAll(t, s.Path("two"), "Test")
	seen := s.glance(ctx, "two")
	look := func() *ahead {
		a := &ahead{s: s, task: "two", seen: make(chan glance, 1)}
		a.seen <- seen
		return a
	}
	u := &submission{Project: s, r: SubmitRequest{Request: r, Task: "two"}}
	h := &handing{Project: s, r: HandOffRequest{Request: r, HandOff: board.HandOff{About: board.About{Task: "two"}, Summary: "begun", NextAction: "go on"}}}
	pure(claimed.Done.View, func() map[string]gitboard.Intent {
		u.worktree, h.worktree = look(), look()
		return map[string]gitboard.Intent{"submit": u.intent, "hand-off": h.intent}
	})
}

// TestRetryIfChanged checks that an obstacle counts only where the board is as it was, and that a
// claim which always meets a new board gives up in the end.
func TestRetryIfChanged(t *testing.T) {
	ctx, s, commits := began(t)
	s.boarded(t, ctx, commits)
	s.ready(t, ctx, "one", "")
	writes := false
	now := func() time.Time {
		if writes { // somebody else, whenever the claim is planned
			writes = false
			_, err := s.b.Do(ctx, gitboard.Request{Actor: board.HumanActor("Ada", "ada@example.org")}, gitboard.Just(&board.AddNote{Message: "m"}))
			must(t, err)
			writes = true
		}
		return time.Now()
	}
	b := testrun.Must(gitboard.Open(ctx, s.Root, gitboard.Options{Now: now, Retries: 2}))(t)
	defer b.Close()
	_, coder, err := b.Sessions().Register(ctx, "coder-1", "", gitboard.Process{PID: 7})
	must(t, err)
	own := testrun.Must(Open(ctx, b))(t)
	v := testrun.Must(b.View(ctx))(t)
	c := &claimer{Project: own, seen: v.Commit}
	obstacle := board.Refuse(board.CodeInTheWay, "something is in the way", "")
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	testrun.Equal(t, c.retryIfChanged(ctx, obstacle), error(obstacle), "the board is as it was")
	s.ready(t, ctx, "two", "")
	testrun.Equal(t, c.retryIfChanged(cancelled, obstacle), error(obstacle), "the board can't be read")
	testrun.ErrorIs(t, c.retryIfChanged(ctx, obstacle), errChanged, "the board has moved")
	testrun.ErrorIs(t, c.retryIfChanged(ctx, os.ErrPermission), os.ErrPermission, "another error than a refusal has nothing to do with the board")
	must(t, os.MkdirAll(filepath.Join(s.Path("one"), "own"), 0o755))
	writes = true
	_, err = Claim(ctx, b, ClaimRequest{Request: gitboard.Request{Actor: coder}, Task: "one"})
	writes = false
	if !errors.As(err, new(*gitboard.LostError)) {
		t.Errorf("the board always moves: %v", err)
	}
}

// TestNotCheckedOut checks that a submodule which is not checked out in the worktree is taken to be
// as its remote has it.
func TestNotCheckedOut(t *testing.T) {
	ctx, s, commits := began(t)
	path := s.Path("one")
	must(t, s.repo.Worktree(path).Add(ctx, commits[0]))
	must(t, os.WriteFile(filepath.Join(path, ".gitmodules"), []byte("[submodule \"lib\"]\n\tpath = lib\n\turl = ../lib\n"), 0o644))
	testrun.RunGit(t, path, "add", ".")
	testrun.RunGit(t, path, "update-index", "--add", "--cacheinfo", "160000,"+string(commits[1])+",lib")
	testrun.RunGit(t, path, "commit", "-qm", "with a submodule")
	head, _, err := s.repo.Worktree(path).Head(ctx)
	must(t, err)
	must(t, s.fetchable(ctx, noBoard(), &board.Task{ID: "one"}, path, head, []string{".gitmodules", "lib"}))
}

// TestNoWork checks what a coder is told who can't claim anything.
func TestNoWork(t *testing.T) {
	ctx, s, commits := began(t)
	v := s.boarded(t, ctx, commits)
	says := func(want string) {
		t.Helper()
		if err := noWork(v, "coder-1"); err.Error() != "nothing to claim for coder-1: "+want {
			t.Error(err)
		}
	}
	says("there are no tasks yet")
	s.ready(t, ctx, "one", "")
	ada := board.HumanActor("Ada", "ada@example.org")
	do := func(p board.Payload) {
		t.Helper()
		v = testrun.Must(s.b.Do(ctx, gitboard.Request{Actor: ada}, gitboard.Just(p)))(t).View
	}
	do(&board.Block{About: board.About{Task: "one"}, Reason: "stop"})
	says("of the open tasks 1 are blocked")
	do(&board.Abandon{About: board.About{Task: "one"}, Reason: "not needed"})
	says("every task is finished")
	// Of the others it depends on the goal, and on the role.
	do(&board.GoalStart{ID: "later", Text: "Another goal", After: "goal-1"})
	v = s.ready(t, ctx, "two", "later")
	says("of the open tasks 1 wait for another goal")
	do(&board.GoalAbort{Goal: "later"})
	says("of the open tasks 1 are of a goal that has ended")
	v = s.ready(t, ctx, "three", "goal-1")
	says("of the open tasks 1 are rejected and wait for their author, 1 are of a goal that has ended") // or it could be claimed
	if err := noWork(v, "designer-1"); !strings.HasSuffix(err.Error(), "1 are of a goal that has ended, 1 are for another role") {
		t.Error(err)
	}
	do(&board.SetConfig{Key: board.KeyBudgetGoal, Value: "100"})
	_, planner, err := s.b.Sessions().Register(ctx, "planner-1", "", gitboard.Process{PID: 7})
	must(t, err)
	done, err := s.b.Do(ctx, gitboard.Request{Actor: planner}, gitboard.Just(&board.Usage{Goal: "goal-1", CLI: "c", Cost: board.Cost{Input: 100}}))
	must(t, err)
	v = done.View
	says("of the open tasks 1 are of a goal whose budget is used up, 1 are of a goal that has ended")
}
