package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// beside is a context by which something is done each time that a function itself uses it, as
// another process may do it then.
type beside struct {
	context.Context
	do map[string]func() // by the function's name
}

// Done implements context.Context.
func (c beside) Done() <-chan struct{} {
	c.used()
	return c.Context.Done()
}

// Err implements context.Context.
func (c beside) Err() error {
	c.used()
	return c.Context.Err()
}

func (c beside) used() {
	pc, _, _, _ := runtime.Caller(2)
	_, function, _ := strings.Cut(runtime.FuncForPC(pc).Name(), "/gitboard/")
	if do := c.do[function]; do != nil {
		do()
	}
}

// once is a context without retries.
func once(t *testing.T) context.Context {
	t.Helper()
	ctx, _ := gitio.WithRetries(t.Context(), 0)
	return ctx
}

// TestFetchedBeside checks that a caller that waits for a fetch in progress does not fetch again,
// unless it wants more than that fetch has brought.
func TestFetchedBeside(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fetch   func(s *Store, ctx context.Context) error
		before  bool // the view is fresh before it waits
		fetches bool
	}{
		"fetch":                   {func(s *Store, ctx context.Context) error { return s.Fetch(ctx) }, false, false},
		"fetch all":               {func(s *Store, ctx context.Context) error { return s.FetchAll(ctx) }, false, true},
		"fetch all of what is so": {func(s *Store, ctx context.Context) error { return s.FetchAll(ctx) }, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apart(t)
			file, err := s.repo.OpenQueue(s.file("fetch"))
			check(t, err)
			check(t, gitio.TryQueue(file))
			fetched := func() { s.count(goodFile, 1) }
			if c.before {
				fetched()
			}
			waits := beside{once(t), map[string]func(){"remote.(*Store).take": sync.OnceFunc(func() {
				fetched()
				check(t, file.Close())
			})}}
			err = c.fetch(s, waits)
			if isNetwork(err) != c.fetches || err != nil && !c.fetches {
				t.Errorf("it is told %v", err)
			}
			if begun, _ := s.counts(); (begun == 1) != c.fetches {
				t.Errorf("%d fetches have begun", begun)
			}
		})
	}
}

// TestStoppedBetween checks that a caller that is stopped between two attempts makes no more.
func TestStoppedBetween(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	asked := 0
	err := again(ctx, func() error {
		asked++
		stop()
		return &gitio.NetworkError{Remote: "hub", Err: errors.New("gone")}
	})
	if !errors.Is(err, context.Canceled) || asked != 1 {
		t.Errorf("it has asked %d times, and is told %v", asked, err)
	}
}

// TestGivesWay checks how often a clone waits for a push of others: until they had their turns,
// nobody comes, or it can't see them.
func TestGivesWay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		turns int
		come  int           // how many of the waits see a push
		links int           // that each push brings
		takes time.Duration // that each wait takes by the clock
		odd   string
		waits int
	}{
		"all come":                {turns: 2, come: 9, links: 1, waits: 2},
		"two come in one push":    {turns: 2, come: 9, links: 2, waits: 1},
		"one comes":               {turns: 3, come: 1, links: 1, waits: 2},
		"nobody comes":            {turns: 3, waits: 1},
		"they are slow":           {turns: 9, come: 9, links: 1, takes: 4 * time.Second, waits: 3},
		"it is stopped":           {turns: 3, come: 9, links: 1, odd: "stopped", waits: 1},
		"the remote is gone":      {turns: 3, come: 9, links: 1, odd: "gone", waits: 1},
		"the board can't be read": {turns: 3, odd: "broken", waits: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, now := alone(t), noon
			if c.odd == "gone" {
				s = apart(t)
			}
			s.now = func() time.Time { return now }
			ids := s.commits(t, 10)
			s.keepPlace(place{Tip: ids[0], Pushed: now, Took: time.Millisecond, Turns: c.turns})
			s.set(t, map[string]git.OID{git.BoardRef: ids[0]})
			ctx, stop := context.WithCancel(once(t))
			defer stop()
			waits := 0
			others := func() {
				now = now.Add(c.takes)
				switch waits++; {
				case c.odd == "stopped":
					stop()
				case c.odd == "broken":
					s.set(t, map[string]git.OID{git.BoardRef: "broken"})
				}
				if waits <= c.come {
					s.set(t, map[string]git.OID{git.BoardRef: ids[waits*c.links]})
				}
			}
			if !s.giveWay(beside{ctx, map[string]func(){"remote.wait": others}}) || s.place().Turns != 0 || waits != c.waits {
				t.Errorf("it waits %d times, and is left with %+v", waits, s.place())
			}
		})
	}
}

// TestRegatherLate checks that a push waits longer if more came than it has seen, although no file
// was seen to change.
func TestRegatherLate(t *testing.T) {
	t.Parallel()
	s := alone(t)
	s.remote.Store(&gitio.Remote{Name: "hub"})
	check(t, os.Remove(s.dir)) // which can't be watched
	looks := 0
	ctx := beside{t.Context(), map[string]func(){"remote.(*Store).regather": func() {
		looks++
		pending := &chain{Remote: "hub"}
		for i := range 2 + looks {
			pending.Links = append(pending.Links, &link{ID: fmt.Sprint(i), Base: git.ZeroOID})
		}
		text, err := json.Marshal(pending)
		check(t, err)
		check(t, os.MkdirAll(s.dir, 0o755))
		check(t, s.write(chainFile, text))
	}}}
	if s.regather(ctx, place{Took: 500 * time.Millisecond, Again: 4}); looks != 2 {
		t.Errorf("it has looked %d times", looks)
	}
}

// TestMovedBeside checks that refs which others have moved, or deleted, meanwhile are in nobody's
// way.
func TestMovedBeside(t *testing.T) {
	t.Parallel()
	const update = "gitio.(*Repo).WriteAndUpdate"
	t.Run("unpack", func(t *testing.T) {
		t.Parallel()
		s := apart(t)
		s.remote.Load().OnlyBranches = true
		ids := s.commits(t, 3)
		here, there := s.Task("x"), s.mirror(s.Task("x"))
		s.set(t, map[string]git.OID{here: ids[0], there: ids[1]})
		tries := 0
		ctx := beside{t.Context(), map[string]func(){update: func() {
			if tries++; tries == 1 {
				s.set(t, map[string]git.OID{here: ids[2]})
			}
		}}}
		check(t, s.unpack(ctx))
		if at, err := s.repo.Ref(t.Context(), here); at != ids[1] || err != nil {
			t.Errorf("it is at %s: %v", at, err)
		}
		tries = 0
		turns := []git.OID{ids[0], ids[2]}
		ctx.do[update] = func() {
			tries++
			s.set(t, map[string]git.OID{here: turns[tries%2]})
		}
		s.set(t, map[string]git.OID{here: ids[0]})
		if err := s.unpack(ctx); !errors.Is(err, gitio.ErrRefMoved) {
			t.Errorf("it moves all the time, and that is told as %v", err)
		}
	})
	t.Run("drop what git has tracked", func(t *testing.T) {
		t.Parallel()
		s := apart(t)
		ids := s.commits(t, 2)
		stale := git.RemoteRef("hub", "liza/state")
		s.set(t, map[string]git.OID{stale: ids[0]})
		check(t, s.dropTracked(beside{t.Context(), map[string]func(){update: func() {
			s.set(t, map[string]git.OID{stale: ids[1]})
		}}}, "hub"))
	})
}
