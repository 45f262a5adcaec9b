package supervisor

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestLane checks that a merge runs while the reviewer reviews, that another merge in progress is
// not a failure, that any other failure is tried again, and that an abort ends a merge.
func TestLane(t *testing.T) {
	ctx, s, hands, clock := supervised(t)
	var events []string
	s.Report = func(e Event) { events = append(events, e.Line()) }
	on := newScene(t).approved("login").submitted("cart")
	look := func() *Look {
		l := on.look(reviewer1)
		l.Now, l.Merging = clock.Now(), s.lane.tasks
		testrun.Must(s.merge(ctx, &l))(t)
		return &l
	}
	ends := func(landed []Landed, err error) {
		t.Helper()
		look()
		look() // it is running
		events = nil
		hands.merges <- func([]string) ([]Landed, error) { return landed, err }
		must(t, s.merged(ctx, <-s.lane.done))
	}
	if l := look(); said(Next(*l, s.memory), l.Now) != "claim-review cart" || len(l.Merging) != 1 {
		t.Errorf("while it merges %s, its next step is %s", l.Merging, said(Next(*l, s.memory), l.Now))
	}
	ends(nil, board.Refuse(board.CodeBusy, "code-reviewer-2 merges logout at the moment", ""))
	if len(events)+len(s.memory.Merges) > 0 {
		t.Errorf("a merge in progress is reported as %q, and waited for: %v", events, s.memory.Merges)
	}
	ends([]Landed{{Task: "login", Merged: true, Text: "merge login"}}, nil)
	testrun.Equal(t, strings.Join(events, "\n"), "merged login: merge login", "it reports")
	ends(nil, errors.New("the disk is full"))
	if got := strings.Join(events, "\n"); got != "trouble login: the merge is tried again later: the disk is full" || s.memory.Merges["login"].Times != 1 {
		t.Errorf("it reports %q, and has failed %d times", got, s.memory.Merges["login"].Times)
	}
	if look(); s.lane.tasks != nil {
		t.Error("it merges again at once")
	}
	s.memory.Merges, events = nil, nil
	look()
	aborted := on.look(reviewer1)
	aborted.Halt, aborted.Merging = &report.Halt{File: "ABORT", Mode: board.Aborted}, s.lane.tasks
	testrun.Must(s.merge(ctx, &aborted))(t)
	must(t, s.merged(ctx, <-s.lane.done))
	testrun.Equal(t, strings.Join(events, "\n"), "merge_failed login: the run is aborted: the merge has been given up", "an abort: it reports")
	if n := strings.Count(strings.Join(hands.did, " "), "merge"); n != 4 {
		t.Errorf("it has begun %d merges", n)
	}
}

// TestOutgrown checks that a merge begins again for further approved work while it is young, and
// not later, with a full batch, or before a merge has shown how long one takes.
func TestOutgrown(t *testing.T) {
	ctx, s, hands, clock := supervised(t)
	l := newScene(t).approved("login").approved("cart").look(reviewer1)
	l.Now = clock.Now()
	for name, want := range map[string]struct {
		lane lane
		is   bool
	}{
		"young":                {lane{tasks: []string{"login"}, began: l.Now.Add(-time.Second), took: 10 * time.Second}, true},
		"a fifth is over":      {lane{tasks: []string{"login"}, began: l.Now.Add(-2 * time.Second), took: 10 * time.Second}, false},
		"the first merge":      {lane{tasks: []string{"login"}, began: l.Now}, false},
		"with all that can be": {lane{tasks: []string{"login", "cart"}, began: l.Now, took: time.Second}, false},
		"a full batch":         {lane{tasks: slices.Repeat([]string{"login"}, 8), began: l.Now, took: time.Second}, false},
		"free":                 {lane{began: l.Now, took: time.Second}, false},
	} {
		l := l
		l.Merging = want.lane.tasks
		testrun.Equal(t, l.outgrown(s.memory, want.lane), want.is, "%s", name)
	}

	merge := func(l Look) {
		l.Now, l.Merging = clock.Now(), s.lane.tasks
		testrun.Must(s.merge(ctx, &l))(t)
	}
	merge(newScene(t).approved("login").look(reviewer1))
	s.lane.took = time.Second
	merge(l)
	must(t, s.merged(ctx, <-s.lane.done))
	merge(l)
	if !slices.Equal(s.lane.tasks, []string{"login", "cart"}) {
		t.Errorf("it merges %q", s.lane.tasks)
	}
	go func() { hands.merges <- func([]string) ([]Landed, error) { return nil, nil } }()
	<-s.lane.done
	if n := strings.Count(strings.Join(hands.did, " "), "merge"); n != 2 {
		t.Errorf("it has begun %d merges", n)
	}
}

// TestFollowsWhatIsPending checks that a review and a merge are begun while a remote has yet to take
// what they follow from, and that no agent is started then.
func TestFollowsWhatIsPending(t *testing.T) {
	ctx, s, _, _ := supervised(t)
	root, dir := s.Board.Repo().TopLevel(), t.TempDir()
	hub, open := filepath.Join(dir, "hub.git"), filepath.Join(dir, "open")
	for _, args := range [][]string{{"commit", "-q", "--allow-empty", "-m", "first"}, {"branch", "integration"}, {"init", "-q", "--bare", hub}, {"remote", "add", "origin", hub}} {
		testrun.RunGit(t, root, args...)
	}
	do(t, ctx, s.Board, s.actor, &board.PreExec{About: about("login"), Checkpoint: board.Checkpoint{Intent: "i", Validation: "v: ok", FilesToModify: []string{"f"}}})
	coder := s.actor
	s.actor = registers(t, ctx, s.Board, "code-reviewer-1", 0)
	s.Role = reviewer1.Role
	other := registers(t, ctx, s.Board, "coder-2", 0)
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
