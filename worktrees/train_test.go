package worktrees_test

import (
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// trains approves so many tasks, t1 to tn, each with a file of its own. Those that write says otherwise for write that
// into the file shared.txt.
func (s *scene) trains(n int, write map[int]string) {
	s.t.Helper()
	for i := 1; i <= n; i++ {
		id := fmt.Sprintf("t%d", i)
		s.task(id)
		if text, shared := write[i]; shared {
			s.approved(fmt.Sprintf("coder-%d", i), id, "shared.txt", text)
		} else {
			s.approved(fmt.Sprintf("coder-%d", i), id, id+".txt", id+"\n")
		}
		s.clock.pass(ms(1000))
	}
}

func (s *scene) train(tasks ...string) []*merge.Result {
	s.t.Helper()
	got, err := merge.Train(s.ctx, s.b, merge.TrainRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1")}, Tasks: tasks})
	s.check(err)
	return got
}

// counted sets an integration test that counts its runs and fails where one of the files is.
func (s *scene) counted(bad ...string) (runs func() int) {
	s.t.Helper()
	marker := filepath.Join(s.t.TempDir(), "runs")
	command := "echo \"$LIZA_TASKS\" >> '" + marker + "'"
	for _, file := range bad {
		command += "; test ! -e " + file + " || { echo " + file + " is bad; exit 1; }"
	}
	s.set("integration_test", command)
	return func() int {
		text, _ := os.ReadFile(marker)
		return strings.Count(string(text), "\n")
	}
}

// moves is how often integration moved since a commit of it.
func (s *scene) moves() int {
	s.t.Helper()
	return len(strings.Split(s.git(s.dir, "reflog", "show", "--format=%H", "integration"), "\n"))
}

// All that is approved lands in one transaction after one test, one operation a task.
func TestTrain(t *testing.T) {
	for _, n := range []int{1, 2, 8, 16} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := newScene(t)
			s.trains(n, nil)
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
				if r.Task != id || !r.Merged || git.OID(p.Before) != before || p.MergeCommit != string(r.Commit) || p.Test == "" || n > 1 && p.Train != string(tip) || n == 1 && p.Train != "" {
					t.Errorf("%d: %+v %+v", i, r, p)
				}
				before = r.Commit
				if m := s.is(id, board.Merged); m.MergeCommit != string(r.Commit) || s.file(tip, id+".txt") == "" {
					t.Errorf("task %+v", m)
				}
			}
			if before != tip {
				t.Errorf("integration is at %s, the last merge is %s", tip, before)
			}
			s.lies(".integration")
		})
	}
}

// The one that brings a failure is found in few tests, says how its own run failed, and holds up nobody.
func TestTrainCulprit(t *testing.T) {
	for _, n := range []int{2, 8} {
		for bad := 1; bad <= n; bad += max(1, n/3) {
			t.Run(fmt.Sprint(bad, " of ", n), func(t *testing.T) {
				s := newScene(t)
				s.trains(n, nil)
				runs := s.counted(fmt.Sprintf("t%d.txt", bad))
				got := s.train()
				if most := 2 + bits.Len(uint(n-1)); runs() > most {
					t.Errorf("%d tests, more than %d", runs(), most)
				}
				if len(got) != n {
					t.Fatalf("%d results", len(got))
				}
				for _, r := range got {
					if is := r.Task == fmt.Sprintf("t%d", bad); r.Merged == is {
						t.Errorf("%+v", r)
					}
				}
				id := fmt.Sprintf("t%d", bad)
				e := s.is(id, board.IntegrationFailed).Last(board.EventIntegrationFailed)
				if e.Reason != board.FailTest || !contains(e.Log, id+".txt is bad") {
					t.Errorf("%+v", e)
				}
				s.lies(".integration", id)
			})
		}
	}
}

func TestTrainTwoCulprits(t *testing.T) {
	s := newScene(t)
	s.trains(8, nil)
	s.counted("t3.txt", "t6.txt")
	var failed []string
	for _, r := range s.train() {
		if !r.Merged {
			failed = append(failed, r.Task)
		}
	}
	if !slices.Equal(failed, []string{"t3", "t6"}) {
		t.Errorf("failed: %v", failed)
	}
	s.lies(".integration", "t3", "t6")
}

// What conflicts leaves the train, wherever it is in it, and goes the way of conflicts once the others have landed.
func TestTrainConflict(t *testing.T) {
	for _, second := range []int{2, 3, 4} {
		t.Run(fmt.Sprint(second), func(t *testing.T) {
			s := newScene(t)
			s.trains(4, map[int]string{1: "one\n", second: "another\n"})
			runs := s.counted()
			got := s.train()
			if len(got) != 4 || runs() != 1 {
				t.Fatalf("%d results, %d tests", len(got), runs())
			}
			last := got[3]
			if id := fmt.Sprintf("t%d", second); last.Task != id || last.Failure != board.FailConflict || !slices.Equal(last.Conflicts, []string{"shared.txt"}) {
				t.Errorf("%+v", last)
			} else {
				s.is(id, board.IntegrationFailed)
				s.lies(".integration", id)
			}
		})
	}
}

// More than a batch lands in several transactions. Tests of later ones run beside the first where the board says so.
func TestTrainWorkers(t *testing.T) {
	s := newScene(t)
	s.trains(4, nil)
	s.set("merge_batch", "2")
	s.set("integration_workers", "2")
	begun := filepath.Join(t.TempDir(), "begun")
	// The first train's test ends when the second's has begun.
	s.set("integration_test", "if test -e t4.txt; then touch '"+begun+"'; else until test -e '"+begun+"'; do sleep 0.01; done; fi; echo x >> '"+begun+".runs'")
	moves := s.moves()
	got := s.train()
	runs, err := os.ReadFile(begun + ".runs")
	s.check(err)
	if len(got) != 4 || s.moves() != moves+2 || string(runs) != "x\nx\n" {
		t.Errorf("%d results, %d moves, runs %q", len(got), s.moves()-moves, runs)
	}
	if s.git(s.dir, "show", "integration:t4.txt") != "t4" {
		t.Error("t4 did not land")
	}
}

// A test that runs ahead on top of a train that fails ends, and its train is tested again without the culprit.
func TestTrainWorkersInVain(t *testing.T) {
	s := newScene(t)
	s.trains(4, nil)
	s.set("merge_batch", "2")
	s.set("integration_workers", "2")
	begun := filepath.Join(t.TempDir(), "begun")
	s.set("integration_test", "if test -e t4.txt && test -e t1.txt; then touch '"+begun+"'; exec sleep 600; fi; if test -e t1.txt; then until test -e '"+begun+"'; do sleep 0.01; done; exit 1; fi")
	got := s.train()
	if len(got) != 4 || got[0].Merged || got[0].Task != "t1" || !got[3].Merged {
		t.Errorf("%+v", got)
	}
}

// What passed is not tested again, by nobody in this clone; --no-cache asks for it.
func TestTrainRemembers(t *testing.T) {
	s := newScene(t)
	s.trains(2, nil)
	runs := s.counted()
	// Integration moves on while the test runs, to a commit with the same tree: all is computed again, and not tested.
	command := s.state().Config().IntegrationTest
	s.set("integration_test", command+"; git -C ../.. update-ref refs/heads/integration $(git -C ../.. commit-tree -p integration -m same 'integration^{tree}')")
	if got := s.train(); len(got) != 2 || runs() != 1 {
		t.Errorf("%d results, %d tests", len(got), runs())
	}
	s.task("t3")
	s.approved("coder-3", "t3", "t3.txt", "t3\n")
	s.set("integration_test", command)
	before := s.ref("refs/heads/integration")
	s.train()
	s.check(os.WriteFile(filepath.Join(s.b.Dir(), "tested"), nil, 0o644))
	s.task("t4")
	s.approved("coder-4", "t4", "t4.txt", "t4\n")
	_, err := merge.Train(s.ctx, s.b, merge.TrainRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1")}, Afresh: true})
	s.check(err)
	if runs() != 3 || s.ref("refs/heads/integration") == before {
		t.Errorf("%d tests", runs())
	}
}

// A test that fails once is run again where the board says so; an anomaly says so, and no task is blamed.
func TestTrainFlaky(t *testing.T) {
	s := newScene(t)
	s.trains(2, nil)
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

// Who is no longer approved when the train lands has left it, and a commit that a human lands meanwhile is under it.
func TestTrainLeft(t *testing.T) {
	s := newScene(t)
	s.trains(3, nil)
	begun, open := filepath.Join(t.TempDir(), "begun"), filepath.Join(t.TempDir(), "open")
	s.set("integration_test", "touch '"+begun+"'; until test -e '"+open+"'; do sleep 0.01; done")
	actor := s.as("code-reviewer-1")
	type ended struct {
		results []*merge.Result
		err     error
	}
	done := make(chan ended)
	go func() {
		got, err := merge.Train(s.ctx, s.open(), merge.TrainRequest{Request: gitboard.Request{Actor: actor}})
		done <- ended{got, err}
	}()
	s.appears(begun)
	held := s.lease("merge")
	if !slices.Equal(held.Tasks, []string{"t1", "t2", "t3"}) || !slices.Equal(held.Testing, held.Tasks) || held.Since == nil {
		t.Errorf("the lease says %+v", held)
	}
	s.do(human(), &board.Block{About: about("t2"), Reason: "not yet"})
	s.git(s.dir, "update-ref", "refs/heads/integration", s.git(s.dir, "commit-tree", "-p", "integration", "-m", "a human's", "integration^{tree}"))
	s.check(os.WriteFile(open, nil, 0o644))
	got := <-done
	s.check(got.err)
	var landed []string
	for _, r := range got.results {
		if r.Merged {
			landed = append(landed, r.Task)
		}
	}
	if !slices.Equal(landed, []string{"t1", "t3"}) {
		t.Errorf("landed %v", landed)
	}
	s.is("t2", board.Blocked)
	if s.git(s.dir, "log", "--oneline", "--first-parent", "--grep=a human's", "integration") == "" {
		t.Error("the human's commit is gone")
	}
}

// The same request again tells what it did.
func TestTrainRepeated(t *testing.T) {
	s := newScene(t)
	s.trains(3, map[int]string{1: "one\n", 2: "two\n"})
	r := merge.TrainRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1"), ID: "train"}}
	first, err := merge.Train(s.ctx, s.b, r)
	s.check(err)
	tip := s.ref("refs/heads/liza/state")
	again, err := merge.Train(s.ctx, s.b, r)
	s.check(err)
	if len(first) != 3 || len(again) != 3 || s.ref("refs/heads/liza/state") != tip {
		t.Fatalf("%d results, then %d", len(first), len(again))
	}
	for i, r := range again {
		if f := first[i]; f.Task != r.Task || f.Merged != r.Merged || f.Commit != r.Commit || f.Done.Commit != r.Done.Commit || !r.Done.Repeated {
			t.Errorf("%+v, then %+v", f, r)
		}
	}
}

// Commits that came after the approval are kept, and the merge says so.
func TestTrainLaterCommits(t *testing.T) {
	s := newScene(t)
	s.trains(1, nil)
	later := s.work("t1", "late.txt", "late\n")
	got := s.train()
	if len(got) != 1 || len(got[0].Warnings) != 1 || !contains(got[0].Warnings[0], "task/t1 after its approval did not land (1)") || !contains(got[0].Warnings[0], "refs/liza/attic/t1") {
		t.Errorf("%+v", got[0])
	}
	if !got[0].Untested || !slices.Contains(s.attic("t1"), later) {
		t.Errorf("untested %t, the attic %v lacks %s", got[0].Untested, s.attic("t1"), later)
	}
	s.task("t2")
	s.approved("coder-2", "t2", "t2.txt", "t2\n")
	s.set("integration_test", "none")
	if got := s.train("t2"); got[0].Untested {
		t.Error("the board says that there is no test")
	}
}
