package worktrees_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// atOnce runs n functions concurrently.
func (s *scene) atOnce(n int, run func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { run(i) })
	}
	all.Wait()
}

func coder(i int) string { return fmt.Sprintf("coder-%d", i+1) }

// TestReleaseAndClaim runs releases, sweeps and claims of the same tasks concurrently: the holder
// of a task always has its worktree.
func TestReleaseAndClaim(t *testing.T) {
	s := newScene(t, ready("one"), ready("two"))
	const n = 3
	for i := range n {
		s.as(coder(i))
	}
	s.atOnce(n+1, func(i int) {
		b := s.open()
		if i == n {
			for range 4 {
				if _, err := worktrees.Sweep(s.ctx, b, human(), ""); err != nil {
					t.Errorf("sweep: %v", err)
				}
			}
			return
		}
		for round := range 2 {
			got, err := worktrees.Claim(s.ctx, b, worktrees.ClaimRequest{Request: gitboard.Request{Actor: s.agent[coder(i)]}})
			var r *board.Refusal
			if errors.As(err, &r) {
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", coder(i), err)
				return
			}
			file := fmt.Sprintf("%s-%d", coder(i), round)
			if err := os.WriteFile(filepath.Join(got.Path, file), []byte("x"), 0o644); err != nil {
				t.Errorf("%s has no worktree: %v", coder(i), err)
				return
			}
			if _, err := worktrees.End(s.ctx, b, gitboard.Request{Actor: s.agent[coder(i)]}, &board.Release{About: board.About{Task: got.Task.ID}}); err != nil {
				t.Errorf("release: %v", err)
				return
			}
			kept := false
			refs, err := b.Repo().Refs(s.ctx, "refs/liza/attic/"+got.Task.ID)
			for _, ref := range refs {
				_, missing := b.Repo().History().FileOID(s.ctx, ref.OID, file)
				kept = kept || missing == nil
			}
			if err != nil || !kept {
				t.Errorf("%s is lost (%v)", file, err)
			}
		}
	})
	s.lies()
	if p := s.problems(); len(p) > 0 {
		t.Errorf("problems: %+v", p)
	}
}

// TestMergesAtOnce checks that concurrent merges run one after the other.
func TestMergesAtOnce(t *testing.T) {
	s := newTrain(t, 2, nil)
	s.set("integration_test", "sleep 0.1")
	ids := []string{"t1", "t2"}
	s.as("code-reviewer-2")
	s.atOnce(len(ids), func(i int) {
		b := s.open()
		for s.ctx.Err() == nil {
			got, err := mergeOne(s.ctx, b, merge.TrainRequest{Request: gitboard.Request{Actor: s.agent["code-reviewer-2"]}, Tasks: []string{ids[i]}})
			var r *board.Refusal
			if errors.As(err, &r) && r.Code == board.CodeBusy {
				time.Sleep(ms(20))
				continue
			}
			if err != nil || !got.Merged {
				t.Errorf("%s: %+v %v", ids[i], got, err)
			}
			return
		}
		t.Errorf("%s: busy for ever", ids[i])
	})
	tip := s.ref("refs/heads/integration")
	for _, id := range ids {
		if s.is(id, board.Merged); s.file(tip, id+".txt") != id+"\n" {
			t.Errorf("%s is not on integration", id)
		}
	}
	s.lies()
}

// TestBaseOutdated checks that a claim's worktree is made again from the newer base if a dependency
// is added and lands during its setup.
func TestBaseOutdated(t *testing.T) {
	s := newScene(t, ready("one"), ready("two"), approved("coder-1", "one", "b.txt", "b\n"))
	s.as("coder-2")
	dir := t.TempDir()
	mark, end := filepath.Join(dir, "mark"), filepath.Join(dir, "end")
	s.set("worktree_setup", "touch '"+mark+"'; while ! test -e '"+end+"'; do sleep 0.01; done")
	other := s.open()
	ended := make(chan *worktrees.Claimed, 1)
	go func() {
		got, err := worktrees.Claim(s.ctx, other, worktrees.ClaimRequest{Request: gitboard.Request{Actor: s.agent["coder-2"]}, Task: "two"})
		if err != nil {
			t.Errorf("claim: %v", err)
		}
		ended <- got
	}()
	s.appears(mark)
	landed := s.merge("one")
	s.do(human(), &board.AmendTask{About: about("two"), Set: []string{"depends_on"}, Definition: board.Definition{DependsOn: []string{"one"}}, Reason: "it needs it"})
	s.write(dir, "end", "")
	if got := <-ended; got == nil || got.Task.BaseCommit != string(landed.Commit) || s.read(got.Path, "b.txt") != "b\n" {
		t.Errorf("claimed %+v", got)
	}
	s.lies("two")
}

// amid opens the board as a process beside which something happens when it looks at the clock for the
// nth time, counted from 0.
func (s *scene) amid(n int, do func()) *gitboard.Board {
	s.t.Helper()
	looks := 0
	b := testrun.Must(gitboard.Open(s.ctx, s.dir, gitboard.Options{Now: func() time.Time {
		if looks++; looks == n+1 {
			do()
		}
		return s.clock.now()
	}}))(s.t)
	s.t.Cleanup(func() {
		if b.Close(); looks <= n {
			s.t.Errorf("it looks at the clock %d times only", looks)
		}
	})
	return b
}

// TestEndedBeside checks that a call leaves the worktree of the next holder alone if another call,
// by the same request, has ended the former claim meanwhile: it has read the next one's. If there is
// nothing to keep in either, both calls have made the same commit.
func TestEndedBeside(t *testing.T) {
	for _, edited := range []string{"edited\n", ""} {
		for i, n := range []int{3, 0, 1, 2, 4} { // at 3 it has begun
			if !testrun.OneIn(5, i) {
				continue
			}
			t.Run(fmt.Sprintf("%q, at look %d at the clock", edited, n), func(t *testing.T) {
				s := newScene(t, ready("one"), claimed("coder-1", "one"))
				edit := func(text string) {
					if edited != "" {
						s.write(s.path("one"), "a.txt", text)
					}
				}
				edit(edited)
				r := gitboard.Request{Actor: s.as("coder-1"), ID: "again"}
				s.as("coder-2")
				b := s.amid(n, func() {
					testrun.Must(worktrees.End(s.ctx, s.b, r, &board.Release{About: about("one")}))(s.t)
					s.claim("coder-2", "one")
					edit("edited by the next\n")
				})
				testrun.Must(worktrees.End(s.ctx, b, r, &board.Release{About: about("one")}))(s.t)
				s.lies("one")
				if edited != "" && s.read(s.path("one"), "a.txt") != "edited by the next\n" || s.is("one", board.Claimed).AssignedTo != "coder-2" {
					t.Error("the worktree of the next holder has gone")
				}
			})
		}
	}
}

// TestLandedBeside checks that a landing that another call, by the same request, has made meanwhile
// is reported as the board records it.
func TestLandedBeside(t *testing.T) {
	for i, n := range []int{2, 0, 1} { // at 2 it has begun
		if !testrun.OneIn(3, i) {
			continue
		}
		t.Run(fmt.Sprint("at look ", n, " at the clock"), func(t *testing.T) {
			s := newScene(t)
			side := filepath.Join(t.TempDir(), "side")
			s.git(s.dir, "worktree", "add", "-q", "-b", "side", side, "integration")
			s.write(side, "c.txt", "c\n")
			s.write(side, "d.txt", "d\n")
			s.commitAll(side, "a human's")
			r := merge.LandRequest{Request: gitboard.Request{Actor: human(), ID: "again"}, Commit: "side", Files: []string{"c.txt"}}
			got := testrun.Must(merge.Land(s.ctx, s.amid(n, func() {
				testrun.Must(merge.Land(s.ctx, s.b, r))(s.t)
				s.clock.pass(time.Minute)
			}), r))(s.t)
			if tip := s.ref("refs/heads/integration"); got.Commit != tip || s.file(tip, "c.txt") != "c\n" || s.file(tip, "d.txt") != "" {
				t.Errorf("%s landed, and %s is reported", tip, got.Commit)
			}
		})
	}
}

// TestMergedBeside checks that a merge takes nothing for its own that another call, by the same
// request, has merged meanwhile in another clone, in the same second.
func TestMergedBeside(t *testing.T) {
	for i, n := range []int{3, 0, 1, 2, 4, 5} { // at 3 it has begun
		if !testrun.OneIn(6, i) {
			continue
		}
		t.Run(fmt.Sprint("at look ", n, " at the clock"), func(t *testing.T) {
			s := newTrain(t, 2, nil)
			there := s.shared()
			r := gitboard.Request{Actor: s.as("code-reviewer-1"), ID: "again"}
			b := s.amid(n, func() {
				testrun.Must(merge.Train(s.ctx, there, merge.TrainRequest{Request: r, Tasks: []string{"t1"}}))(s.t)
			})
			got := testrun.Must(merge.Train(s.ctx, b, merge.TrainRequest{Request: r, Tasks: []string{"t1", "t2"}}))(s.t)
			for _, m := range got {
				if m.Task != m.Done.Op.TaskID() || !m.Merged {
					t.Errorf("got %+v", m)
				}
			}
			testrun.Must(merge.Follow(s.ctx, s.b, gitboard.Moment{}))(s.t)
			s.is("t1", board.Merged)
			s.is("t2", board.Merged)
		})
	}
}
