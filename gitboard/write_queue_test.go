//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package gitboard

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestTurnExcludes: one writer at a time has the turn, and each gets it.
func TestTurnExcludes(t *testing.T) {
	repo := testrepo.Bare(t)
	path := filepath.Join(repo.CommonDir(), "liza", "turn")
	const takers, each = 8, 50
	var inside atomic.Int32
	var all sync.WaitGroup
	for range takers {
		all.Go(func() {
			for range each {
				mine := &writeQueue{repo: repo, path: path, patience: time.Hour} // nobody counts as stuck
				if mine.queue(context.Background()); mine.held == nil {
					mine.take(context.Background())
				}
				if mine.held == nil {
					t.Error("one has no turn")
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d have the turn", n)
				}
				inside.Add(-1)
				mine.end()
			}
		})
	}
	all.Wait()
}

func TestTurnIsLeftToOthersWhileItIsFree(t *testing.T) {
	repo := testrepo.Bare(t)
	path := filepath.Join(repo.CommonDir(), "liza", "turn")
	early, late := &writeQueue{repo: repo, path: path}, &writeQueue{repo: repo, path: path}
	if early.queue(context.Background()) || early.held != nil {
		t.Error("whoever only queues has taken a free turn")
	}
	if late.take(context.Background()) || late.held == nil {
		t.Error("a free turn was not to be had")
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if !early.take(ended) || early.held != nil {
		t.Error("two have the turn")
	}
	late.end()
}

// started makes a board in a new repository and returns it with the path of its turn.
func started(t *testing.T) (*Board, string) {
	t.Helper()
	b := testrun.Must(Open(t.Context(), testrepo.Init(t, false), Options{}))(t)
	t.Cleanup(func() { b.Close() })
	write(t, b, &board.Init{Goal: "a goal", IntegrationBranch: "integration"})
	return b, b.writeQueue().path
}

func write(t *testing.T, b *Board, p board.Payload) {
	t.Helper()
	if _, err := b.Do(context.Background(), Request{Actor: board.HumanActor("Ada", "ada@example.org")}, Just(p)); err != nil {
		t.Fatal(err)
	}
}

func note(text string) board.Payload { return &board.AddNote{For: "human", Message: text} }

// TestTurnOfOneWhoIsStopped: a writer that stops during its turn delays the next one only briefly,
// and later ones not at all.
func TestTurnOfOneWhoIsStopped(t *testing.T) {
	b, path := started(t)
	stopped := &writeQueue{repo: b.Repo(), path: path}
	if stopped.take(context.Background()); stopped.held == nil {
		t.Fatal("the turn was not to be had")
	}
	write(t, b, note("while it is held"))
	next := &writeQueue{repo: b.Repo(), path: path}
	if next.take(context.Background()) || next.held == nil {
		t.Error("the turn is still the one's who is stopped")
	}
	next.end()
	stopped.end()
	write(t, b, note("afterwards"))
}

// TestTurnIsTakenAgain: a writer that others took for stuck queues behind them. Otherwise it would
// write beside them, and lose each race against those who take turns.
func TestTurnIsTakenAgain(t *testing.T) {
	b, path := started(t)
	slow, next := &writeQueue{repo: b.Repo(), path: path}, &writeQueue{repo: b.Repo(), path: path}
	slow.take(context.Background())
	if !next.take(context.Background()) || next.held == nil {
		t.Fatal("the turn was not taken from one who made no progress")
	}
	got := make(chan bool)
	go func() { got <- slow.take(context.Background()) }()
	next.end()
	if <-got; slow.held == nil || !slow.held.Current() {
		t.Error("the slow one has no turn, or one of a queue in which nobody is")
	}
	slow.end()
}

// TestTurnThatNeverComes: a writer that has waited in vain makes its next attempt without the turn,
// instead of waiting for ever.
func TestTurnThatNeverComes(t *testing.T) {
	_, path := started(t)
	repo := testrepo.Bare(t)
	busy, next := &writeQueue{repo: repo, path: path}, &writeQueue{repo: repo, path: path, patience: 50 * time.Millisecond}
	busy.take(context.Background())
	moved := time.NewTicker(next.patience / 10)
	defer moved.Stop()
	got := make(chan bool)
	go func() { got <- next.take(context.Background()) }()
	for waiting := true; waiting; {
		select {
		case <-moved.C:
			busy.touch()
		case waited := <-got:
			waiting = false
			if !waited {
				t.Error("it has not waited")
			}
		}
	}
	if next.held != nil { // on a machine that stood, the queue seemed stuck
		next.end()
		return
	}
	if next.take(context.Background()) || next.held != nil {
		t.Error("it waits again before it tries")
	}
	busy.end()
	if next.take(context.Background()); next.held == nil {
		t.Error("the turn is not asked for again")
	}
	next.end()
}
