package gitboard_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// faulty lets chosen steps of a store fail, either undone or although they were done.
type faulty struct {
	fails map[int]fault // by the number of the step, from 1
	step  int
	met   int
	first string // the name of the first step that failed
}

type fault struct {
	done bool  // the step is done and nevertheless reported as failed
	err  error // how the failure is reported
}

var errFault = errors.New("the plug was pulled")

// call runs one step of the store.
func (f *faulty) call(name string, step func() error) error {
	f.step++
	x, fails := f.fails[f.step]
	if !fails {
		return step()
	}
	if f.met++; f.met == 1 {
		f.first = name
	}
	if x.done {
		if err := step(); err != nil {
			return err
		}
	}
	if name != "UpdateRefs" && !errors.Is(x.err, errFault) {
		return fmt.Errorf("%s: %w", name, errFault) // only refs can be reported as moved
	}
	return fmt.Errorf("%s: %w", name, x.err)
}

// TestFaults lets each step of several operations fail in every way. After each, success means that
// the operation is on the board and failure that it is not; a retry with the same request id acts
// once; the board verifies. In a repository there is one way to fail, with -long all.
func TestFaults(t *testing.T) {
	testrun.NotShort(t)
	test := func(t *testing.T, s log.Store, ways map[string][]fault) {
		c := newClock()
		sound := gitboard.OpenStore(s, "", gitboard.Options{Now: c.Now})
		begin(t, sound)
		do(t, sound, ada, &board.SetConfig{Key: "max_coder_iterations", Value: "1000"})
		do(t, sound, coder1, claim("alpha"))
		holder := coder1
		other := func() board.Actor {
			if holder.ID == coder1.ID {
				return coder2
			}
			return coder1
		}
		operations := []struct {
			name string
			make func() (board.Actor, board.Payload)
		}{
			{"a human's note", func() (board.Actor, board.Payload) { return ada, note("m") }},
			{"an agent's anomaly", func() (board.Actor, board.Payload) { return holder, &board.LogAnomaly{Type: "spec_ambiguity"} }},
			{"a take-over", func() (board.Actor, board.Payload) {
				c.Pass(time.Hour) // all leases expire
				holder = other()
				return holder, claim("alpha")
			}},
		}
		_, slow := s.(*git.Repo)
		if slow {
			operations = operations[2:] // this one does everything that the others do
		}
		n := 0
		for _, op := range operations {
			for i, how := range slices.Sorted(maps.Keys(ways)) {
				if slow && !testrun.OneIn(len(ways), i) {
					continue
				}
				failure := ways[how]
				for step := 1; ; step++ {
					n++
					request := fmt.Sprintf("request-%d", n)
					bad := &faulty{fails: map[int]fault{}}
					for i, x := range failure {
						bad.fails[step+i] = x
					}
					actor, p := op.make()
					since := tipOf(t, s)
					_, err := try(gitboard.OpenStore(&testrepo.Between{Store: s, Call: bad.call}, "", gitboard.Options{Now: c.Now, Retries: 3}), actor, request, p)
					where := fmt.Sprintf("%s, step %d (%s) %s", op.name, step, bad.first, how)
					stands := count(t, s, since, request)
					unclear := len(failure) > 1 && bad.first == "UpdateRefs"
					switch {
					case err == nil && stands != 1:
						t.Errorf("%s: succeeded, and stands %d times", where, stands)
					case err != nil && stands != 0 && !unclear:
						t.Errorf("%s: failed with %v, and stands", where, err)
					case err != nil && !errors.Is(err, errFault) && !errors.As(err, new(*log.UnclearError)):
						t.Errorf("%s: %v", where, err)
					}
					_, p = again(actor, p)
					done, err := try(sound, actor, request, p)
					if err != nil {
						t.Fatalf("%s: again: %v", where, err)
					}
					if done.Repeated != (stands == 1) || count(t, s, since, request) != 1 {
						t.Errorf("%s: again: repeated %v, stands %d times", where, done.Repeated, count(t, s, since, request))
					}
					if bad.met == 0 {
						break
					}
				}
			}
		}
		if n < 50 && !slow || n < 10 {
			t.Errorf("only %d failures were tried", n)
		}
		clean(t, s)
	}
	ways := map[string][]fault{
		"not done":                      {{false, errFault}},
		"done, reported as failed":      {{true, errFault}},
		"done, and the look after dies": {{true, git.ErrRefMoved}, {false, errFault}},
	}
	t.Run("memory", func(t *testing.T) { test(t, testrepo.NewMemory(), ways) })
	t.Run("git", func(t *testing.T) {
		repo := testrun.Must(git.Open(context.Background(), project(t)))(t)
		defer repo.Close()
		test(t, repo, ways)
		fsck(t, repo)
	})
}

// again returns a fresh copy of the intent, because a try adds evidence to its payload.
func again(a board.Actor, p board.Payload) (board.Actor, board.Payload) {
	if c, ok := p.(*board.Claim); ok {
		return a, claim(c.Task)
	}
	return a, p
}
