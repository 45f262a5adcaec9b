package worktrees_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees/merge"
)

func (s *scene) train(tasks ...string) []*merge.Result {
	s.t.Helper()
	got, err := merge.Train(s.ctx, s.b, merge.TrainRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1")}, Tasks: tasks})
	s.check(err)
	return got
}

// counted sets an integration test that counts its runs.
func (s *scene) counted() (runs func() int) {
	s.t.Helper()
	marker := filepath.Join(s.t.TempDir(), "runs")
	s.set("integration_test", "echo \"$LIZA_TASKS\" >> '"+marker+"'")
	return func() int {
		text, _ := os.ReadFile(marker)
		return strings.Count(string(text), "\n")
	}
}

// moves returns how often integration has moved, counted in its reflog.
func (s *scene) moves() int {
	s.t.Helper()
	return len(strings.Split(s.git(s.dir, "reflog", "show", "--format=%H", "integration"), "\n"))
}

// TestTrain checks that all approved tasks land in one transaction after one test, with one
// operation for each task.
func TestTrain(t *testing.T) {
	for _, n := range []int{4, 16} {
		if n == 16 && !*testrun.Long {
			continue
		}
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := newTrain(t, n, nil)
			s.set("merge_batch", "16")
			runs, before, moves := s.counted(), s.ref("refs/heads/integration"), s.moves()
			got := s.train()
			if len(got) != n || runs() != 1 || s.moves() != moves+1 {
				t.Errorf("%d results, %d tests, %d moves", len(got), runs(), s.moves()-moves)
			}
			tip := s.ref("refs/heads/integration")
			for i, r := range got {
				id := fmt.Sprintf("t%d", i+1)
				p := r.Done.Op.Payload.(*board.Merge)
				if r.Task != id || !r.Merged || plumbing.OID(p.Before) != before || p.MergeCommit != string(r.Commit) || p.Test == "" || p.Train != string(tip) {
					t.Errorf("%d: %+v %+v", i, r, p)
				}
				before = r.Commit
				if !contains(r.Done.Subject, ", train "+tip.Short()) {
					t.Errorf("%d: the log says %q", i, r.Done.Subject)
				}
				if m := s.is(id, board.Merged); m.MergeCommit != string(r.Commit) || s.file(tip, id+".txt") == "" {
					t.Errorf("task %+v", m)
				}
			}
			if before != tip {
				t.Errorf("integration is at %s, the last merge is %s", tip, before)
			}
			s.lies()
		})
	}
}

// TestTrainWorkersInVain checks that the test of a later train runs beside the first if the board is
// configured so, that it ends when the train below it fails, and that its own train is tested again
// without the culprit.
func TestTrainWorkersInVain(t *testing.T) {
	s := newTrain(t, 4, nil)
	s.set("merge_batch", "2")
	s.set("integration_workers", "2")
	begun := filepath.Join(t.TempDir(), "begun")
	s.set("integration_test", "if test -e t4.txt && test -e t1.txt; then touch '"+begun+"'; exec sleep 600; fi; if test -e t1.txt; then until test -e '"+begun+"'; do sleep 0.01; done; exit 1; fi")
	got := s.train()
	if len(got) != 4 || got[0].Merged || got[0].Task != "t1" || !got[3].Merged {
		t.Errorf("%+v", got)
	}
}

// TestTrainRemembers checks that a tree that passed is not tested again in this clone.
func TestTrainRemembers(t *testing.T) {
	s := newTrain(t, 2, nil)
	runs := s.counted()
	// During the test integration moves to a commit with the same tree: the train is computed
	// again, but not tested again.
	command := s.state().Config().IntegrationTest
	s.set("integration_test", command+"; git -C '"+s.dir+"' update-ref refs/heads/integration $(git -C '"+s.dir+"' commit-tree -p integration -m same 'integration^{tree}')")
	if got := s.train(); len(got) != 2 || runs() != 1 {
		t.Errorf("%d results, %d tests", len(got), runs())
	}
}

// TestTrainFlaky checks that a failing test is run again if the board is configured so. If it
// passes, an anomaly records that, and no task is blamed.
func TestTrainFlaky(t *testing.T) {
	s := newTrain(t, 2, nil)
	marker := filepath.Join(t.TempDir(), "ran")
	s.set("integration_test", "test -e '"+marker+"' || { touch '"+marker+"'; exit 1; }")
	s.set("integration_test_retry", "1")
	for _, r := range s.train() {
		if !r.Merged {
			t.Errorf("%+v", r)
		}
	}
	var found []string
	for _, id := range s.state().List(board.AnomalyDir) {
		a := s.state().Anomaly(id)
		found = append(found, fmt.Sprint(a.Type, a.Task, a.Details["runs"]))
	}
	if !slices.Equal(found, []string{"flaky_test2"}) {
		t.Errorf("anomalies %v", found)
	}
}

// underWay is a train whose test is running and waits.
type underWay struct {
	s    *scene
	open string
	done chan ended
}

type ended struct {
	results []*merge.Result
	err     error
}

// depart starts to merge all approved tasks and returns when the test has started. The test fails
// if the file bad exists.
func (s *scene) depart(r merge.TrainRequest, bad string) *underWay {
	s.t.Helper()
	dir := s.t.TempDir()
	begun, open := filepath.Join(dir, "begun"), filepath.Join(dir, "open")
	s.set("integration_test", "touch '"+begun+"'; until test -e '"+open+"'; do sleep 0.01; done; test ! -e "+bad)
	r.Actor = s.as("code-reviewer-1")
	u := &underWay{s: s, open: open, done: make(chan ended, 1)}
	b := s.open()
	go func() {
		got, err := merge.Train(s.ctx, b, r)
		u.done <- ended{got, err}
	}()
	s.appears(begun)
	return u
}

// arrive lets the test end. It returns the tasks that landed and the rest of the result.
func (u *underWay) arrive() (landed []string, _ ended) {
	u.s.t.Helper()
	u.s.check(os.WriteFile(u.open, nil, 0o644))
	e := <-u.done
	for _, r := range e.results {
		if r.Merged {
			landed = append(landed, r.Task)
		}
	}
	return landed, e
}

// TestTrainLeft checks that a task that is no longer approved when the train lands is left out and
// reported, and that the train lands on top of a commit that a human added to integration
// meanwhile.
func TestTrainLeft(t *testing.T) {
	s := newTrain(t, 4, nil)
	u := s.depart(merge.TrainRequest{}, "nothing")
	held := s.lease("merge")
	if !slices.Equal(held.Tasks, []string{"t1", "t2", "t3", "t4"}) || !slices.Equal(held.Testing, held.Tasks) || held.Since == "" {
		t.Errorf("the lease says %+v", held)
	}
	s.do(human(), &board.Block{About: about("t2"), Reason: "not yet"})
	s.do(human(), &board.Pause{About: about("t3"), Reason: "not now"})
	s.git(s.dir, "update-ref", "refs/heads/integration", s.git(s.dir, "commit-tree", "-p", "integration", "-m", "a human's", "integration^{tree}"))
	landed, e := u.arrive()
	s.check(e.err)
	if !slices.Equal(landed, []string{"t1", "t4"}) {
		t.Errorf("landed %v", landed)
	}
	if said := fmt.Sprint(e.results[1].Warnings); !contains(said, "left out: t2 is BLOCKED") || !contains(said, "left out: t3 is paused") {
		t.Errorf("warnings %s", said)
	}
	s.is("t2", board.Blocked)
	s.is("t3", board.Approved)
	if s.git(s.dir, "log", "--oneline", "--first-parent", "--grep=a human's", "integration") == "" {
		t.Error("the human's commit is gone")
	}
}

// TestTrainSetUpForNobody checks that a merge ends where worktree_setup fails with integration alone,
// too, and does not find that out task by task; and that it then names no task.
func TestTrainSetUpForNobody(t *testing.T) {
	s := newTrain(t, 4, nil)
	s.counted()
	setups := filepath.Join(t.TempDir(), "setups")
	s.set("worktree_setup", "echo >>'"+setups+"'; echo no network; exit 1")
	got, err := merge.Train(s.ctx, s.b, merge.TrainRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1")}})
	const want = "no task can be tested, since worktree_setup fails with integration alone: worktree_setup failed (exit 1): no network"
	if len(got) > 0 || err == nil || err.Error() != want {
		t.Errorf("%d landed: %v", len(got), err)
	}
	text, err := os.ReadFile(setups)
	if s.check(err); len(text) != 4 { // with four tasks, with two, with one, with none
		t.Errorf("it ran %d times", len(text))
	}
	for i := range 4 {
		s.is(fmt.Sprint("t", i+1), board.Approved)
	}
	s.set("worktree_setup", "true")
	if got := s.merge("t1"); !got.Merged {
		t.Errorf("when it works again: %+v", got)
	}
}

// TestTrainContinued checks that a request that was cut short between two rounds is continued when it
// is repeated: what was named and did not get its turn is merged, and nothing else. Of all that was
// approved it only says what is left.
func TestTrainContinued(t *testing.T) {
	s := newTrain(t, 4, nil)
	s.set("merge_batch", "1")
	for _, named := range [][]string{{"t1", "t2"}, nil} {
		ctx, cancel := context.WithCancel(s.ctx)
		r := merge.TrainRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1"), ID: fmt.Sprint("merge-", len(named))}, Tasks: named}
		done := s.ref("refs/heads/integration")
		b, err := gitboard.Open(s.ctx, s.dir, gitboard.Options{Now: func() time.Time {
			if s.ref("refs/heads/integration") != done {
				cancel()
			}
			return s.clock.now()
		}})
		s.check(err)
		if got, err := merge.Train(ctx, b, r); err == nil || len(got) != 1 {
			t.Fatalf("not cut short: %+v, %v", got, err)
		}
		s.check(b.Close())
		got := testrun.Must(merge.Train(s.ctx, s.b, r))(s.t)
		if named != nil {
			if len(got) != 2 || !got[0].Done.Repeated || got[1].Done.Repeated || got[1].Task != "t2" || !got[1].Merged {
				t.Errorf("got %+v", got)
			}
			continue
		}
		if len(got) != 1 || got[0].Task != "t3" || !contains(fmt.Sprint(got[0].Warnings), "t4") {
			t.Errorf("got %+v", got[0])
		}
	}
	s.is("t4", board.Approved)
}

// TestTrainAborted checks that nothing lands if the board is aborted meanwhile.
func TestTrainAborted(t *testing.T) {
	s := newTrain(t, 2, nil)
	before := s.ref("refs/heads/integration")
	u := s.depart(merge.TrainRequest{}, "nothing")
	s.do(human(), &board.Abort{Reason: "enough"})
	landed, e := u.arrive()
	s.refused(e.err, board.CodeMode, "ABORTED")
	if len(landed) > 0 || s.ref("refs/heads/integration") != before || s.ref("refs/liza/leases/merge") != plumbing.ZeroOID {
		t.Errorf("landed %v", landed)
	}
	s.is("t1", board.Approved)
}

// TestTrainCulpritLeft checks that the other tasks still land if the culprit is blocked before its
// failure is recorded.
func TestTrainCulpritLeft(t *testing.T) {
	s := newTrain(t, 2, nil)
	u := s.depart(merge.TrainRequest{}, "t2.txt")
	s.do(human(), &board.Block{About: about("t2"), Reason: "not yet"})
	landed, e := u.arrive()
	s.check(e.err)
	if !slices.Equal(landed, []string{"t1"}) {
		t.Errorf("landed %v", landed)
	}
	s.is("t2", board.Blocked)
}

// TestTrainHalf checks that a train that landed without its operations is finished by doctor, and
// by the next merge.
func TestTrainHalf(t *testing.T) {
	for i, by := range []string{"doctor", "merge"} {
		if !testrun.OneIn(2, i) {
			continue
		}
		t.Run(by, func(t *testing.T) {
			s := newTrain(t, 2, nil)
			side := filepath.Join(t.TempDir(), "side")
			s.git(s.dir, "worktree", "add", "-q", "--detach", side, "integration")
			for i := 1; i <= 2; i++ {
				s.git(side, "merge", "-q", "--no-ff", "-m", "Merge", fmt.Sprintf("task/t%d", i))
			}
			s.git(s.dir, "update-ref", "refs/heads/integration", s.git(side, "rev-parse", "HEAD"))
			s.git(s.dir, "worktree", "remove", side)
			if by == "doctor" {
				s.mended("half-merge", "half-merge")
			} else if got := s.train(); len(got) != 2 {
				t.Errorf("%d results", len(got))
			}
			before := ""
			for i := 1; i <= 2; i++ {
				m := s.is(fmt.Sprintf("t%d", i), board.Merged)
				if m.MergeCommit == before || m.MergeCommit == m.ReviewCommit {
					t.Errorf("%+v", m)
				}
				before = m.MergeCommit
			}
			if tip := string(s.ref("refs/heads/integration")); before != tip {
				t.Errorf("integration is at %s, the last merge is %s", tip, before)
			}
			s.lies()
		})
	}
}

// TestTrainLaterCommits checks that commits made after the approval are kept and reported, and that
// one task alone is called no train.
func TestTrainLaterCommits(t *testing.T) {
	s := newTrain(t, 1, nil)
	later := s.work("t1", "late.txt", "late\n")
	got := s.train()
	if len(got) != 1 || len(got[0].Warnings) != 1 || !contains(got[0].Warnings[0], "task/t1 after its approval did not land (1)") || !contains(got[0].Warnings[0], "refs/liza/attic/t1") {
		t.Errorf("%+v", got[0])
	}
	if p := got[0].Done.Op.Payload.(*board.Merge); p.Train != "" || contains(got[0].Done.Subject, ", train ") {
		t.Errorf("%q: %+v", got[0].Done.Subject, p)
	}
	if !got[0].Untested || !slices.Contains(s.attic("t1"), later) {
		t.Errorf("untested %t, the attic %v lacks %s", got[0].Untested, s.attic("t1"), later)
	}
}

// documented gives the board a stage docs with a test of its own.
func (s *scene) documented(test string) {
	s.t.Helper()
	team := board.BuiltinTeam()
	team.Stages = append(team.Stages, board.Stage{Name: "docs", Role: "coder", Test: test})
	s.do(human(), &board.SetTeam{Team: *team})
}

// stages approves tasks t1 to t4. t2 and t4 are of the stage docs.
var stages = step{"stages", func(s *scene) {
	s.documented("")
	for i := 1; i <= 4; i++ {
		id := fmt.Sprintf("t%d", i)
		s.task(id, func(p *board.AddTask) {
			if i%2 == 0 {
				p.Stage = "docs"
			}
		})
		s.approved(fmt.Sprintf("coder-%d", i), id, id+".txt", id+"\n")
		s.clock.pass(ms(1000))
	}
}}

// TestTrainOfStages checks that tasks are tested by the test of their stage alone: t2 would fail
// the board's, and t4 fails only its own. A train has one test.
func TestTrainOfStages(t *testing.T) {
	s := newScene(t, stages)
	marker := filepath.Join(t.TempDir(), "runs")
	command := func(name, bad string) string {
		return "echo \"" + name + " $LIZA_TASKS\" >> '" + marker + "'; test ! -e " + bad
	}
	code, docs := command("code", "t2.txt"), command("docs", "t4.txt")
	s.set("integration_test", code)
	s.documented(docs)
	var outcome []string
	for _, r := range s.train() {
		p := r.Done.Op.Payload.(*board.Merge)
		test := map[string]string{code: "code", docs: "docs"}[p.Test]
		outcome = append(outcome, fmt.Sprint(r.Task, " ", test, " ", r.Merged))
	}
	if want := []string{"t1 code true", "t3 code true", "t2 docs true", "t4 docs false"}; !slices.Equal(outcome, want) {
		t.Errorf("got %q, want %q", outcome, want)
	}
	text := testrun.Must(os.ReadFile(marker))(s.t)
	if want := "code t1 t3\ndocs t2 t4\ndocs t2\n"; string(text) != want {
		t.Errorf("the tests were %q, want %q", text, want)
	}
	s.is("t4", board.IntegrationFailed)
}

// TestTrainLosesItsTest checks that a task which removes the test script does not take the test away
// from those before it, and that it holds up nobody where a test is required.
func TestTrainLosesItsTest(t *testing.T) {
	const script = "scripts/integration-test.sh"
	scripted := step{"scripted", func(s *scene) {
		side := filepath.Join(s.t.TempDir(), "side")
		s.git(s.dir, "worktree", "add", "-q", "--detach", side, "integration")
		s.write(side, script, "test ! -e bad.txt\n")
		s.check(s.lands(s.b, s.commitAll(side, "a test")))
		s.git(s.dir, "worktree", "remove", "--force", side)
	}}
	removed := step{"removed", func(s *scene) {
		s.task("removes")
		s.claim("coder-1", "removes")
		s.preExec("coder-1", "removes")
		s.git(s.path("removes"), "rm", "-q", script)
		s.work("removes", "r.txt", "r\n")
		s.submit("coder-1", "removes")
		s.verdict("code-reviewer-1", "removes", board.VerdictApproved)
	}}
	for _, required := range []bool{false, true} {
		t.Run(fmt.Sprint("required ", required), func(t *testing.T) {
			s := newScene(t, scripted, ready("bad"), approved("coder-1", "bad", "bad.txt", "bad\n"), removed, ready("good"), approved("coder-1", "good", "good.txt", "good\n"))
			if required {
				s.set("require_integration_test", "true")
			}
			got, err := merge.Train(s.ctx, s.b, merge.TrainRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1")}, Tasks: []string{"bad", "removes", "good"}})
			outcome := []string{}
			for _, r := range got {
				outcome = append(outcome, fmt.Sprint(r.Task, " ", r.Merged, " untested ", r.Untested))
			}
			want := []string{"bad false untested false", "removes true untested true", "good true untested true"}
			if required {
				want = []string{"bad false untested false", "good true untested false"}
				s.refused(err, "tests", "an integration test is required")
			} else {
				s.check(err)
			}
			if !slices.Equal(outcome, want) {
				t.Errorf("got %q, want %q", outcome, want)
			}
		})
	}
}

// TestStageWithoutTest checks that a stage without a test that the board requires holds up nobody
// else, and that nothing is missing where no test is required.
func TestStageWithoutTest(t *testing.T) {
	s := newScene(t, stages)
	s.set("integration_test", "true")
	s.set("require_integration_test", "true")
	s.documented(board.NoTest)
	got, err := merge.Train(s.ctx, s.b, merge.TrainRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1")}})
	s.refused(err, "tests", "the stage docs has none")
	if len(got) != 2 || got[0].Task != "t1" || got[1].Task != "t3" || !got[1].Merged {
		t.Fatalf("got %+v", got)
	}
	s.is("t2", board.Approved)
	s.set("integration_test", "")
	s.set("require_integration_test", "false")
	if got := s.merge("t2"); !got.Merged || got.Untested {
		t.Errorf("got %+v", got)
	}
}
