package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// TestStuckPush checks that a process whose push makes no progress holds others up for a while, and
// one that makes progress for as long as it needs.
func TestStuckPush(t *testing.T) {
	t.Parallel()
	s := alone(t)
	queue := func() *pushQueue {
		q := s.pushQueue()
		q.beat = 10 * time.Millisecond
		return q
	}
	stopped, err := s.pushQueue().open() // shows nothing
	check(t, err)
	next := queue()
	if !next.await(t.Context()) || !next.stuck || next.held != nil {
		t.Errorf("beside a process that is stopped: %+v", next)
	}
	if _, err := os.Stat(s.file(pushFile)); err == nil {
		t.Error("later processes wait for it as well")
	}
	check(t, stopped.Close())

	slow, waits := queue(), queue()
	if !slow.await(t.Context()) {
		t.Fatal("it may not push")
	}
	ended, stop := context.WithTimeout(t.Context(), 2*mostMissed*slow.beat)
	defer stop()
	if waits.await(ended) || waits.stuck {
		t.Error("a process that makes progress counts as stopped")
	}
	slow.leave()
}

// TestOddChains checks that what is pending counts as nothing if it can't be understood, and is an
// error if it can't be read.
func TestOddChains(t *testing.T) {
	t.Parallel()
	s := alone(t)
	s.remote.Store(&gitio.Remote{Name: "hub"})
	for _, text := range []string{"", "x", `{"remote":"hub","links":[{"id":"half"},{"id":5}]}`, `{"remote":"another","links":[{"id":"other"}]}`} {
		check(t, s.write(chainFile, []byte(text)))
		c, err := s.chain(t.Context())
		if err != nil || len(c.Links) != 0 {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
		check(t, s.put(t.Context(), s.newLink(nil, "")))
		if n, err := s.Waiting(t.Context()); n != 1 || err != nil {
			t.Errorf("after %q: %d, %v", text, n, err)
		}
	}
	check(t, os.Remove(s.file(chainFile)))
	check(t, os.MkdirAll(s.file(chainFile)+"/x", 0o755))
	for name, err := range map[string]error{
		"Waiting": second(s.Waiting(t.Context())), "Flush": s.Flush(t.Context()), "put": s.put(t.Context(), s.newLink(nil, "")),
		"outcome": second(s.outcome(t.Context(), &link{ID: "x"})), "replace": s.replace(t.Context(), &chain{Links: []*link{{}}}),
		"Pending": func() error { _, _, err := s.Pending(t.Context()); return err }(),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	s.regather(t.Context(), place{Took: time.Hour, Again: 2}) // does not wait
	s.drop(t.Context(), &chain{Links: []*link{{ID: "x"}}})
	if n := s.pendingWith(t.Context(), &chain{Links: []*link{{}, {}}}); n != 2 {
		t.Errorf("%d are pending", n)
	}
}

func second(_ any, err error) error { return err }

// TestGather checks for what a push waits: for as many as travelled or waited at the end of the last
// one, if that was just now.
func TestGather(t *testing.T) {
	t.Parallel()
	s := alone(t)
	s.remote.Store(&gitio.Remote{Name: "hub"})
	const long = mostAway / 2 // for how long it waits for one more
	for name, c := range map[string]struct {
		was     place
		pending int
	}{
		"nothing is known":      {place{}, 0},
		"one travelled alone":   {place{Again: 1, Took: time.Hour, Ended: noon}, 0},
		"all are here":          {place{Again: 2, Took: time.Hour, Ended: noon}, 2},
		"more are here":         {place{Again: 2, Took: time.Hour, Ended: noon}, 3},
		"that was long ago":     {place{Again: 3, Took: time.Hour, Ended: noon.Add(-mostAway - time.Second)}, 0},
		"for a push of no time": {place{Again: 3, Ended: noon}, 0},
	} {
		s.keepPlace(c.was)
		pending := &chain{}
		for i := range c.pending {
			pending.Links = append(pending.Links, &link{ID: fmt.Sprint(i), Base: git.ZeroOID})
		}
		_ = os.Remove(s.file(chainFile))
		check(t, s.replace(t.Context(), pending))
		began := time.Now()
		if s.gather(t.Context()); time.Since(began) >= long {
			t.Errorf("%s: it waits for %v", name, time.Since(began))
		}
	}
	// One that comes late is waited for; an hour would be too long for a test.
	_ = os.Remove(s.file(chainFile))
	came := make(chan error, 1)
	go func() {
		came <- s.replace(t.Context(), &chain{Links: []*link{{ID: "1", Base: git.ZeroOID}, {ID: "2", Base: git.ZeroOID}}})
	}()
	s.regather(t.Context(), place{Took: time.Hour, Again: 2})
	check(t, <-came)
	if c, err := s.chain(t.Context()); err != nil || len(c.Links) != 2 {
		t.Errorf("it has not waited: %+v, %v", c, err)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	s.regather(ended, place{Took: time.Hour, Again: 5})
}

// TestSentences checks what is said of errors that callers show.
func TestSentences(t *testing.T) {
	t.Parallel()
	network := &gitio.NetworkError{Remote: "hub", Said: "it is gone", Err: errors.New("x")}
	a, b := git.OID(strings.Repeat("a", 40)), git.OID(strings.Repeat("b", 40))
	for want, err := range map[string]error{
		"the remote hub: it is gone (whether it was done shows when the remote is there again)":                                             &UnclearError{Err: network},
		"x (whether it was done shows when the remote is there again)":                                                                      &UnclearError{Err: errors.New("x"), Look: network},
		"x (whether it was done can't be seen: y)":                                                                                          &UnclearError{Err: errors.New("x"), Look: errors.New("y")},
		"the remote hub has moved the board and not r, which was pushed with it":                                                            &TornError{"hub", "r"},
		"the board here (aaaaaaaaaa) and the board of hub (bbbbbbbbbb) have come apart; neither is changed":                                 &DivergedError{Remote: "hub", Here: a, There: b},
		"the board here (aaaaaaaaaa) and the board of hub (bbbbbbbbbb) have nothing in common: they are two boards, and neither is changed": &DivergedError{"hub", a, b, true},
	} {
		if err.Error() != want {
			t.Errorf("%q, not %q", err, want)
		}
	}
	if errors.Is(&UnclearError{Err: errors.New("x"), Look: network}, network) {
		t.Error("the error of the look says something about the operation")
	}
}

// TestOverwritten checks which settings let a plain fetch overwrite the board.
func TestOverwritten(t *testing.T) {
	t.Parallel()
	s := alone(t)
	for spec, want := range map[string]bool{
		"+refs/heads/*:refs/remotes/hub/*": false, "+refs/heads/*:refs/heads/*": true, "refs/heads/*:refs/heads/*": true, "+refs/*:refs/*": true,
		"refs/heads/liza/state:" + git.BoardRef: true, "refs/heads/x:refs/heads/liza/state2": false, "refs/x:refs/liza/x": true, "refs/x/*:refs/liza/*": true,
		"^refs/heads/liza/*": false, "refs/heads/main": false, "refs/heads/*:refs/heads/li*": true, "refs/heads/*:refs/heads/other/*": false,
	} {
		check(t, s.repo.SetConfig(t.Context(), "remote.hub.fetch", spec))
		if err := s.overwritten(t.Context(), "hub"); (err != nil) != want {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// TestFreshView checks that a caller whose view is fresh does not wait for a fetch in progress.
func TestFreshView(t *testing.T) {
	t.Parallel()
	s := alone(t)
	check(t, s.repo.SetConfig(t.Context(), "remote.hub.url", t.TempDir()))
	by, err := s.repo.Remote(t.Context(), "hub")
	check(t, err)
	s.remote.Store(by)
	before := s.Now()
	s.pushed(s.pushing())
	file, err := s.repo.OpenQueue(s.file("fetch"))
	check(t, err)
	defer file.Close()
	check(t, gitio.TryQueue(file))
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	check(t, s.FetchSince(ctx, before))
	check(t, ctx.Err())
}
