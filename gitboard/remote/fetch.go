package remote

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// tries is how often the network is tried before an error is believed.
const tries = 3

// DivergedError is a board here that the remote's does not follow from. Exit code 4.
type DivergedError struct {
	Remote      string
	Here, There git.OID
	Unrelated   bool // they have no commit in common: two boards
}

func (e *DivergedError) Error() string {
	if e.Unrelated {
		return fmt.Sprintf("the board here (%s) and the board of %s (%s) have nothing in common: they are two boards, and neither is changed", e.Here.Short(), e.Remote, e.There.Short())
	}
	return fmt.Sprintf("the board here (%s) and the board of %s (%s) have come apart; neither is changed", e.Here.Short(), e.Remote, e.There.Short())
}

// Fetch brings this clone's view up to date: the board, where integration and the branches of tasks are, and the
// leases. Processes of a clone fetch one after the other, and one that has waited for a fetch which began after it
// was called fetches no more.
func (s *Store) Fetch(ctx context.Context) error { return s.FetchSince(ctx, s.Now()) }

// FetchAll is Fetch, and brings every submission.
func (s *Store) FetchAll(ctx context.Context) error { return s.fetch(ctx, true, s.Now()) }

// Moment is a moment in the life of a clone's view, as Now gives it.
type Moment int

// Now is a moment that FetchSince knows.
func (s *Store) Now() Moment {
	begun, _ := s.counts()
	return Moment(begun)
}

// FetchSince is Fetch unless the view has been brought up to date since a moment: by a fetch, or by a push, which shows
// where the remote's board is as well.
func (s *Store) FetchSince(ctx context.Context, moment Moment) error {
	return s.fetch(ctx, false, moment)
}

// Fresh reports whether the view has been brought up to date since a moment.
func (s *Store) Fresh(moment Moment) bool {
	_, good := s.counts()
	return Moment(good) > moment
}

func (s *Store) fetch(ctx context.Context, all bool, moment Moment) error {
	if by, err := s.Sharing(ctx); by == nil || err != nil {
		return err
	}
	if s.Fresh(moment) && !all {
		return nil
	}
	release := s.lock(ctx)
	defer release()
	started, good := s.counts()
	if Moment(good) > moment && !all {
		return nil
	}
	started++
	s.count(started, good)
	err := again(ctx, func() error { return s.bring(ctx, all) })
	if err == nil {
		s.count(started, started)
	}
	return err
}

// again asks the remote until it answers, or has not for some times, or there is no use in asking at once: it was silent
// for long, or has refused.
func again(ctx context.Context, ask func() error) error {
	for attempt := 1; ; attempt++ {
		err := ask()
		passes := isNetwork(err) && !errors.Is(err, gitio.ErrSilent) && !errors.Is(err, gitio.ErrRejected) && !errors.Is(err, gitio.ErrNotAtomic) || errors.Is(err, gitio.ErrBusy)
		if !passes || attempt == tries {
			return err
		}
		if err := pause(ctx, attempt+1); err != nil {
			return err
		}
	}
}

// fetchFrom fetches from a remote that this clone doesn't share its board by yet.
func fetchFrom(ctx context.Context, by *gitio.Remote, whole bool, refspec string) error {
	return again(ctx, func() error { return by.Fetch(ctx, false, whole, refspec) })
}

// presence is what a remote has of a board.
type presence int

const (
	none   presence = iota
	copied          // its branch alone, as a fork has
	judge           // it is the repository by which the board is shared
)

// boardAt asks a remote what it has of a board.
func boardAt(ctx context.Context, by *gitio.Remote) (found presence, err error) {
	err = again(ctx, func() error {
		there, err := by.List(ctx, git.BoardRef, git.HomeRef)
		_, has := there[git.BoardRef]
		_, home := there[git.HomeRef]
		switch {
		case has && home:
			found = judge
		case has:
			found = copied
		}
		return err
	})
	return found, err
}

// pause waits before the network is tried again.
func pause(ctx context.Context, attempt int) error {
	const step = 100 * time.Millisecond
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(step<<attempt + rand.N(step)):
		return nil
	}
}

// bring fetches once. The lock is held.
func (s *Store) bring(ctx context.Context, all bool) error {
	branch, err := s.integration(ctx)
	if err != nil {
		return err
	}
	specs := []string{
		git.BoardRef + ":" + git.BoardRef, "+" + git.BoardRef + ":" + s.tracking("state"),
		"+" + git.LeasePrefix + "*:" + git.LeasePrefix + "*", "+" + git.PublishedPrefix + "*:" + s.Task("*"),
	}
	if branch != "" {
		specs = append(specs, "+"+branch+":"+s.tracking("integration"))
		if s.remote.Load().Spares(branch) { // people look there
			specs = append(specs, "+"+branch+":"+s.peoples(branch))
		}
	}
	if all {
		specs = append(specs, git.ReviewPrefix+"*:"+git.ReviewPrefix+"*")
	}
	failed := s.remote.Load().Fetch(ctx, true, false, specs...)
	if failed == nil || errors.Is(failed, gitio.ErrBusy) {
		return failed
	}
	if err := s.relatedTo(ctx, s.Name(), s.tracking("state")); err != nil {
		return err
	}
	if refused := (*gitio.CommandError)(nil); errors.As(failed, &refused) && refused.Exit == 1 {
		// All was brought that could be. The board here is ahead: the remote's was taken back, and gets it again with
		// the next operation.
		here, err := s.repo.Ref(ctx, git.BoardRef)
		if err != nil {
			return err
		}
		there, err := s.repo.Ref(ctx, s.tracking("state"))
		if err != nil {
			return err
		}
		if there != here {
			if ahead, err := s.repo.IsAncestor(ctx, there, here); ahead || err != nil {
				return err
			}
		}
	}
	return failed
}

// relatedTo refuses a board here and one that was fetched that have come apart.
func (s *Store) relatedTo(ctx context.Context, name, fetched string) error {
	here, err := s.repo.Ref(ctx, git.BoardRef)
	if err != nil {
		return err
	}
	there, err := s.repo.Ref(ctx, fetched)
	if err != nil || here.IsZero() || there.IsZero() || here == there {
		return err
	}
	for _, line := range [][2]git.OID{{here, there}, {there, here}} {
		if follows, err := s.repo.IsAncestor(ctx, line[0], line[1]); follows || err != nil {
			return err
		}
	}
	_, err = s.repo.MergeBase(ctx, here, there)
	if err != nil && !errors.Is(err, gitio.ErrNotFound) {
		return err
	}
	return &DivergedError{Remote: name, Here: here, There: there, Unrelated: err != nil}
}

// Fetched is when this clone's view was last brought up to date, zero for never.
func (s *Store) Fetched() time.Time {
	info, err := os.Stat(s.file("fetched"))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// counts reads how many fetches of this clone have begun, and which of them was the last that came to its end.
func (s *Store) counts() (begun, good int) {
	for name, n := range map[string]*int{"fetching": &begun, "fetched": &good} {
		if data, err := os.ReadFile(s.file(name)); err == nil {
			_, _ = fmt.Sscan(string(data), n)
		}
	}
	return begun, good
}

// count notes what counts reads; where it can't, everybody fetches for themselves.
func (s *Store) count(begun, good int) {
	for name, n := range map[string]int{"fetching": begun, "fetched": good} {
		if name == "fetched" && n != begun {
			continue
		}
		_ = s.write(name, []byte(fmt.Sprintln(n)))
	}
}

// pushing notes that a push begins, whose success will show where the remote's board is. Its number is 0 while others
// fetch, who show it, too.
func (s *Store) pushing() int {
	file, err := gitio.OpenQueue(s.file("fetch"))
	if err != nil {
		return 0
	}
	defer file.Close()
	if gitio.TryQueue(file) != nil {
		return 0
	}
	started, good := s.counts()
	s.count(started+1, good)
	return started + 1
}

// pushed notes that it has succeeded, and stands here. The lock is held.
func (s *Store) pushed(number int) {
	if started, _ := s.counts(); started == number {
		s.count(number, number)
	}
}

// lock keeps others of this clone from bringing refs at the same time: git would fail one of them. It serves order,
// not safety, so whoever waits too long for it goes on without.
func (s *Store) lock(ctx context.Context) (release func()) {
	file, err := gitio.OpenQueue(s.file("fetch"))
	if err != nil {
		return func() {}
	}
	granted := gitio.AwaitQueue(file)
	select {
	case <-granted:
		return func() { file.Close() }
	case <-ctx.Done():
	case <-time.After(tries * s.remote.Load().Patience()):
	}
	gitio.LeaveQueue(file, granted)
	return func() {}
}
