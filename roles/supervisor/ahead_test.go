package supervisor

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestFollowsWhatIsPending checks that a review and a merge are begun while a remote has yet to take
// what they follow from, and that no agent is started then.
func TestFollowsWhatIsPending(t *testing.T) {
	ctx, s, _, _ := supervised(t)
	root, dir := s.Board.Repo().TopLevel(), t.TempDir()
	hub, open := filepath.Join(dir, "hub.git"), filepath.Join(dir, "open")
	for _, args := range [][]string{{"commit", "-q", "--allow-empty", "-m", "first"}, {"branch", "integration"}, {"init", "-q", "--bare", hub}, {"remote", "add", "origin", hub}} {
		out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s", out)
		}
	}
	do(t, ctx, s.Board, s.actor, &board.PreExec{About: about("login"), Checkpoint: board.Checkpoint{Intent: "i", Validation: "v: ok", FilesToModify: []string{"f"}}})
	coder := s.actor
	var err error
	_, s.actor, err = s.Board.Sessions().Register(ctx, "code-reviewer-1", "", gitboard.Process{})
	must(t, err)
	s.Role = reviewer1.Role
	_, other, err := s.Board.Sessions().Register(ctx, "coder-2", "", gitboard.Process{})
	must(t, err)
	must(t, s.Board.Sharing().Share(ctx, "origin"))
	must(t, os.WriteFile(filepath.Join(hub, "hooks", "pre-receive"), []byte("#!/bin/sh\nwhile [ ! -e '"+open+"' ]; do sleep 0.01; done\n"), 0o755))
	t.Cleanup(func() { _ = os.WriteFile(open, nil, 0o644) }) // ends the hook after a failure
	var all sync.WaitGroup
	pending := 0
	begin := func(a board.Actor, p board.Payload) {
		own := testrun.Must(gitboard.Open(ctx, root, gitboard.Options{Now: s.Board.Now}))(t)
		all.Go(func() {
			defer own.Close()
			_, _ = own.Do(ctx, gitboard.Request{Actor: a}, gitboard.Just(p))
		})
		pending++
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			n, err := s.Board.Sharing().Pending(ctx)
			if err == nil && n == pending {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d operations are pending, not %d: %v", n, pending, err)
			}
		}
	}
	next := func() (Step, []string) {
		l := testrun.Must(s.look(ctx))(t)
		if step := Next(l, s.memory); step.Do != Wait {
			t.Errorf("of what the remote has follows %s", step.Do)
		}
		step := testrun.Must(s.early(ctx, l, Step{Do: Wait}))(t)
		tasks := testrun.Must(s.mergeAhead(ctx, l))(t)
		return step, tasks
	}
	begin(human, &board.SetConfig{Key: "integration_test", Value: "true"})
	if step, tasks := next(); step.Do != Wait || len(tasks) > 0 {
		t.Errorf("%+v, merges %q", step, tasks)
	}
	begin(coder, &board.Submit{About: about("login"), Commit: sha("c"), ReviewBase: sha("b"), Commits: 1, Files: 1})
	if step, _ := next(); step.Do != ClaimReview || step.Task != "login" {
		t.Errorf("a submission is pending: %+v", step)
	}
	begin(s.actor, &board.ClaimReview{About: about("login")})
	if step, _ := next(); step.Do != Wait {
		t.Errorf("the claim is pending: %+v", step)
	}
	begin(s.actor, &board.Verdict{About: about("login"), Verdict: board.VerdictApproved, Checked: "tests", Commit: sha("c")})
	if _, tasks := next(); !slices.Equal(tasks, []string{"login"}) {
		t.Errorf("an approval is pending: it merges %q", tasks)
	}
	begin(human, &board.AddTask{About: about("logout"), Ready: true, NoSpecFile: true, Definition: board.Definition{
		Description: "Add a logout", DoneWhen: "d", Scope: "s", SpecRef: "specs/login.md", Kind: board.Code, Priority: 3,
	}})
	s.actor, s.Role, s.First = other, other.Role, "logout" // else it leaves it to the first coder
	if step, _ := next(); step.Do != Claim || step.Task != "logout" || !step.Early {
		t.Errorf("a task is pending: %+v", step)
	}
	must(t, os.WriteFile(open, nil, 0o644))
	all.Wait()
	end := testrun.Must(s.Board.Repo().Ref(ctx, plumbing.BoardRef))(t)
	must(t, s.Board.Prove(ctx, end))
}
