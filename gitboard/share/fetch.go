package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/retry"
)

// tries is how often a network operation is attempted before its error is returned.
const tries = 3

// DivergedError means that the remote's board does not follow from the local one. Exit code 4.
type DivergedError struct {
	Remote      string
	Here, There plumbing.OID
	Unrelated   bool // they share no commit: two separate boards
}

func (e *DivergedError) Error() string {
	if e.Unrelated {
		return fmt.Sprintf("the board here (%s) and the board of %s (%s) have nothing in common: they are two boards, and neither is changed", e.Here.Short(), e.Remote, e.There.Short())
	}
	return fmt.Sprintf("the board here (%s) and the board of %s (%s) have come apart; neither is changed", e.Here.Short(), e.Remote, e.There.Short())
}

// Fetch updates this clone's view: the board, where the remote has integration and the task
// branches, and the leases. Processes of one clone fetch one at a time; one that waited for a fetch
// which began after its own call does not fetch again.
func (s *Store) Fetch(ctx context.Context) error { return s.FetchSince(ctx, s.Now()) }

// FetchAll is Fetch, and also fetches every submission. It returns a *MovedError if some of them
// differ at the remote, or are missing from it.
func (s *Store) FetchAll(ctx context.Context) error { return s.fetch(ctx, true, s.Now()) }

// Moment is a point in the sequence of a clone's fetches, as returned by Now.
type Moment int

// Now is the present moment, for FetchSince and Fresh.
func (s *Store) Now() Moment {
	begun, _ := s.counts()
	return Moment(begun)
}

// FetchSince is Fetch unless the view was updated after moment, by a fetch or by a push, which also
// shows where the remote's board is.
func (s *Store) FetchSince(ctx context.Context, moment Moment) error {
	return s.fetch(ctx, false, moment)
}

// Fresh reports whether the view was updated after moment.
func (s *Store) Fresh(moment Moment) bool {
	_, good := s.counts()
	return Moment(good) > moment
}

// Refetch fetches refs of the board, given by their names here, with all their objects. A plain
// fetch brings no object that a ref here seems to have. No ref moves.
func (s *Store) Refetch(ctx context.Context, refs ...string) error {
	by, err := s.Sharing(ctx)
	if err != nil {
		return err
	}
	defer s.lock(ctx)()
	there := make([]string, len(refs))
	for i, ref := range refs {
		there[i] = s.there(ref)
	}
	return again(ctx, func() error { return by.Fetch(ctx, false, true, there...) })
}

func (s *Store) fetch(ctx context.Context, all bool, moment Moment) error {
	if by, err := s.Sharing(ctx); by == nil {
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
	s.count(begunFile, started)
	err := again(ctx, func() error { return s.bring(ctx, all) })
	if err == nil || errors.As(err, new(*MovedError)) {
		s.count(goodFile, started)
		return err
	}
	if isNetwork(err) && !errors.Is(err, git.ErrSilent) && s.lostThere(ctx) {
		return &LostError{Remote: s.Name()}
	}
	return err
}

// LostError means that the board's branch is missing at the remote that shares it, where refs/liza
// shows that it was. Exit code 4.
type LostError struct{ Remote string }

func (e *LostError) Error() string {
	return fmt.Sprintf("%s has lost its board: the branch %s is missing there, and a board was at home there", e.Remote, plumbing.BranchName(plumbing.BoardRef))
}

// WayOut is the command that restores the board.
func (e *LostError) WayOut() string {
	return fmt.Sprintf("in the clone with the newest board: git push %s %s", e.Remote, plumbing.BranchName(plumbing.BoardRef))
}

// CheckThere returns a *LostError if the remote that shares the board has lost it, and a
// *MovedError if this clone's submissions differ on the remote, or are missing from it. It returns
// nil if the board is not shared. A remote that can't be asked has lost nothing: a
// *git.NetworkError.
func (s *Store) CheckThere(ctx context.Context) error {
	if by, err := s.Sharing(ctx); by == nil {
		return err
	}
	here, err := s.repo.Below(ctx, plumbing.ReviewPrefix) // first: what comes here is there before
	if err != nil {
		return err
	}
	by := *s.remote.Load() // presenceIn changes it
	refs, err := by.List(ctx, append(slices.Clone(homes), s.there(plumbing.ReviewPrefix)+"*")...)
	switch {
	case err != nil:
		return err
	case presenceIn(&by, refs) == lost:
		return &LostError{Remote: s.Name()}
	}
	there := map[string]plumbing.OID{}
	for ref := range here {
		there[ref] = refs[s.there(ref)]
	}
	return s.moved(here, there, false)
}

func (s *Store) lostThere(ctx context.Context) bool {
	by := *s.remote.Load() // presenceAt changes it
	there, err := presenceAt(ctx, &by)
	return err == nil && there == lost
}

// again repeats ask, at most tries times, while the error is one that may pass. It gives up at once
// if the remote kept silent until the timeout or refused.
func again(ctx context.Context, ask func() error) error {
	for attempt := 1; ; attempt++ {
		err := ask()
		passes := isNetwork(err) && !errors.Is(err, git.ErrSilent) && !errors.Is(err, git.ErrRejected) && !errors.Is(err, git.ErrNotAtomic) && !errors.Is(err, git.ErrNoRemote) || errors.Is(err, git.ErrBusy)
		if !passes || !retry.May(ctx, attempt, tries) {
			return err
		}
		if err := pause(ctx, attempt+1); err != nil {
			return err
		}
	}
}

// fetchFrom fetches from a remote that this clone does not share its board through yet.
func fetchFrom(ctx context.Context, by *git.Remote, whole bool, refspec string) error {
	return again(ctx, func() error { return by.Fetch(ctx, false, whole, refspec) })
}

// presence is which part of a board a remote has.
type presence int

const (
	none   presence = iota
	copied          // only the branch, as in a fork
	judge           // the repository through which the board is shared
	lost            // one that had a board, whose branch is missing
)

// boardAt asks a remote which part of a board it has, and under which names, as often as it takes.
func boardAt(ctx context.Context, by *git.Remote) (found presence, err error) {
	err = again(ctx, func() (err error) {
		found, err = presenceAt(ctx, by)
		return err
	})
	return found, err
}

// presenceAt asks once.
func presenceAt(ctx context.Context, by *git.Remote) (presence, error) {
	there, err := by.List(ctx, homes...)
	if err != nil {
		return none, err
	}
	return presenceIn(by, there), nil
}

// homes are the refs that presenceIn looks for.
var homes = []string{plumbing.BoardRef, plumbing.HomeRef, plumbing.AsBranch(plumbing.HomeRef)}

// presenceIn is which part of a board the refs of a remote are, and under which names it has them.
func presenceIn(by *git.Remote, there map[string]plumbing.OID) presence {
	_, has := there[plumbing.BoardRef]
	_, home := there[plumbing.HomeRef]
	if !home {
		_, home = there[plumbing.AsBranch(plumbing.HomeRef)]
		by.OnlyBranches = home
	}
	switch {
	case has && home:
		return judge
	case has:
		return copied
	case home:
		return lost
	}
	return none
}

// pause waits with exponential backoff and jitter before the next attempt.
func pause(ctx context.Context, attempt int) error {
	const step = 100 * time.Millisecond
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(step<<attempt + rand.N(step)):
		return nil
	}
}

// bring fetches once. The caller holds the lock. The board moves last: a claim that shows here
// before its lease could be taken over.
func (s *Store) bring(ctx context.Context, all bool) error {
	if err := s.bringRefs(ctx, all); err != nil {
		return err
	}
	return s.advance(ctx, all)
}

// advance makes the moves that brought returns.
func (s *Store) advance(ctx context.Context, all bool) error {
	for try := 1; ; try++ {
		updates, moved, err := s.brought(ctx, all)
		if err != nil {
			return err
		}
		if err = s.repo.UpdateRefs(ctx, updates, "git liza: fetch"); !errors.Is(err, git.ErrRefMoved) || try == tries {
			return cmp.Or(err, moved)
		}
	}
}

// brought returns what a fetch moves here after git has fetched: what carriers stand for, the
// submissions if all were fetched, and then the board. If the remote's board was reset, the one
// that is here stays, and the next operation restores the remote's. moved is that of newcomers.
func (s *Store) brought(ctx context.Context, all bool) (updates []plumbing.RefUpdate, moved, err error) {
	ahead, state, err := s.aheadOf(ctx, s.Name(), s.tracking("state"))
	if err != nil {
		return nil, nil, err
	}
	if s.remote.Load().OnlyBranches {
		if updates, err = s.unpacked(ctx); err != nil {
			return nil, nil, err
		}
	}
	if all {
		var made []plumbing.RefUpdate
		if made, moved, err = s.newcomers(ctx, ahead); err != nil {
			return nil, nil, err
		}
		updates = append(updates, made...)
	}
	if !ahead && !state.New.IsZero() && state.Old != state.New {
		updates = append(updates, state)
	}
	return updates, moved, nil
}

// newcomers returns the updates that create the fetched submissions which this clone lacks. A
// submission never changes, so those that are here stay: moved is a *MovedError for those that the
// remote has otherwise or has not, nil if there are none.
func (s *Store) newcomers(ctx context.Context, ahead bool) (updates []plumbing.RefUpdate, moved, err error) {
	seen := s.reviews()
	refs, err := s.repo.Below(ctx, plumbing.ReviewPrefix, seen)
	if err != nil {
		return nil, nil, err
	}
	here, there := map[string]plumbing.OID{}, map[string]plumbing.OID{}
	for ref, at := range refs {
		if name, is := strings.CutPrefix(ref, seen); is {
			there[plumbing.ReviewPrefix+name] = at
		} else {
			here[ref] = at
		}
	}
	for ref, at := range there {
		if here[ref].IsZero() {
			updates = append(updates, plumbing.RefUpdate{Ref: ref, New: at})
		}
	}
	return updates, s.moved(here, there, ahead), nil
}

// moved compares the submissions of this clone with those of the remote, by their names here. It
// returns a *MovedError, or nil. Of a board that is ahead of the remote's, which was reset, some
// are not there until the next operation restores it.
func (s *Store) moved(here, there map[string]plumbing.OID, ahead bool) error {
	e := &MovedError{Remote: s.Name()}
	for _, ref := range slices.Sorted(maps.Keys(here)) {
		switch now := there[ref].OrZero(); {
		case now == here[ref]:
		case now != plumbing.ZeroOID:
			e.Refs = append(e.Refs, ref)
		case !ahead:
			e.Gone = append(e.Gone, ref)
		}
	}
	if len(e.Refs)+len(e.Gone) == 0 {
		return nil
	}
	return e
}

// MovedError means that submissions differ between the remote and this clone, or are missing from
// the remote, although a submission never changes. Everything else was fetched. Exit code 4.
type MovedError struct {
	Remote     string
	Refs, Gone []string
}

func (e *MovedError) Error() string {
	var has []string
	if len(e.Refs) > 0 {
		has = append(has, "other commits at "+strings.Join(e.Refs, ", "))
	}
	if len(e.Gone) > 0 {
		has = append(has, "nothing at "+strings.Join(e.Gone, ", "))
	}
	return fmt.Sprintf("%s has %s; the submissions that are here are kept", e.Remote, strings.Join(has, ", and "))
}

// view is a prefix of the remote's refs and that of the refs in which this clone has them.
type view struct{ there, here string }

// views are the refs that a fetch mirrors: refs deleted on the remote are deleted in this clone.
func (s *Store) views() []view {
	return []view{
		{s.there(plumbing.LeasePrefix), s.mirror(plumbing.LeasePrefix)}, {plumbing.PublishedPrefix, s.mirror(s.Task(""))},
		{plumbing.SequencerPrefix, s.tracking(strings.TrimPrefix(plumbing.SequencerPrefix, plumbing.OwnPrefix))},
	}
}

// reviews is the prefix of the refs to which the remote's submissions are fetched.
func (s *Store) reviews() string { return s.tracking("review/") }

// seen are the refs in which this clone has the remote's integration branch, none while there is no
// board.
func (s *Store) seen(branch string) (here []string) {
	if branch == "" {
		return nil
	}
	here = []string{s.tracking("integration")}
	if s.remote.Load().Spares(branch) { // humans look at the usual remote-tracking branch
		here = append(here, s.peoples(branch))
	}
	return here
}

func (s *Store) bringRefs(ctx context.Context, all bool) error {
	branch, err := s.integration(ctx)
	if err != nil {
		return err
	}
	specs := []string{"+" + plumbing.BoardRef + ":" + s.tracking("state")}
	for _, v := range s.views() {
		specs = append(specs, "+"+v.there+"*:"+v.here+"*")
	}
	for _, here := range s.seen(branch) {
		specs = append(specs, "+"+branch+":"+here)
	}
	if all {
		specs = append(specs, "+"+s.there(plumbing.ReviewPrefix)+"*:"+s.reviews()+"*")
	}
	return s.remote.Load().Fetch(ctx, true, false, specs...)
}

// State returns the remote's board as this clone last saw it.
func (s *Store) State(ctx context.Context) (plumbing.OID, error) {
	return s.repo.Ref(ctx, s.tracking("state"))
}

// Replace moves the board of this clone to the remote's, though that does not grow from it, and
// keeps what was here as plumbing.ForgedRef. The caller has proven that here breaks the rules, and that
// there does not.
func (s *Store) Replace(ctx context.Context, here, there plumbing.OID) error {
	defer s.lock(ctx)()
	kept, err := s.repo.Ref(ctx, plumbing.ForgedRef(here))
	if err != nil {
		return err
	}
	updates := []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: here, New: there}}
	if kept.IsZero() {
		updates = append(updates, plumbing.RefUpdate{Ref: plumbing.ForgedRef(here), New: here})
	}
	return s.repo.UpdateRefs(ctx, updates, "git liza: back to the board of "+s.Name()+", which follows")
}

// aheadOf reports whether the local board has all of the fetched one and more, and returns the move
// from the one to the other, as it has compared them. It returns a DivergedError if neither follows
// from the other.
func (s *Store) aheadOf(ctx context.Context, name, fetched string) (ahead bool, move plumbing.RefUpdate, err error) {
	here, err := s.repo.Ref(ctx, plumbing.BoardRef)
	if err != nil {
		return false, move, err
	}
	there, err := s.repo.Ref(ctx, fetched)
	if err != nil {
		return false, move, err
	}
	move = plumbing.RefUpdate{Ref: plumbing.BoardRef, Old: here, New: there}
	if here.IsZero() || there.IsZero() || here == there {
		return false, move, nil
	}
	ahead, err = s.ahead(ctx, name, here, there)
	return ahead, move, err
}

// ahead reports whether a board has operations that a remote's lacks. It returns a DivergedError if
// neither follows from the other.
func (s *Store) ahead(ctx context.Context, name string, here, there plumbing.OID) (bool, error) {
	if behind, err := s.repo.History().IsAncestor(ctx, here, there); behind || err != nil {
		return false, err
	}
	if ahead, err := s.repo.History().IsAncestor(ctx, there, here); ahead || err != nil {
		return ahead, err
	}
	_, err := s.repo.History().MergeBase(ctx, here, there)
	if err != nil && !errors.Is(err, git.ErrNotFound) {
		return false, err
	}
	return false, &DivergedError{Remote: name, Here: here, There: there, Unrelated: err != nil}
}

// Lacking returns where the remote's board was last seen, if it lacks operations of a board here
// since it was reset; zero otherwise. It returns a DivergedError if the boards have diverged.
func (s *Store) Lacking(ctx context.Context, here plumbing.OID) (there plumbing.OID, err error) {
	there, err = s.State(ctx)
	if err != nil || there.IsZero() || there == here {
		return "", err
	}
	if ahead, err := s.ahead(ctx, s.Name(), here, there); !ahead {
		return "", err
	}
	return there, nil
}

// Fetched is when this clone's view was last updated, zero if never.
func (s *Store) Fetched() time.Time {
	info, err := os.Stat(s.file(goodFile))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// counts returns the number of fetches this clone has begun, and the number of the last one that
// succeeded. A power cut or a full disk may have kept either of them from its file: one that has
// succeeded has begun.
func (s *Store) counts() (begun, good int) {
	for name, n := range map[string]*int{begunFile: &begun, goodFile: &good} {
		if data, err := os.ReadFile(s.file(name)); err == nil {
			_, _ = fmt.Sscan(string(data), n)
		}
	}
	return max(begun, good), good
}

// begunFile and goodFile hold what counts reads.
const begunFile, goodFile = "fetching", "fetched"

// count stores one of the numbers that counts reads. If it can't, every process fetches for itself.
func (s *Store) count(file string, n int) { _ = s.write(file, []byte(fmt.Sprintln(n))) }

// pushing records that a push begins, whose success will show where the remote's board is. It
// returns the push's number, 0 if a fetch is in progress, which shows the same.
func (s *Store) pushing() int {
	file, err := s.repo.OpenQueue(s.file(fetchLock))
	if err != nil {
		return 0
	}
	defer file.Close()
	if file.Try() != nil {
		return 0
	}
	started, _ := s.counts()
	s.count(begunFile, started+1)
	return started + 1
}

// pushed records that the push succeeded and its refs are here. The caller holds the lock.
func (s *Store) pushed(number int) {
	if started, _ := s.counts(); started == number {
		s.count(goodFile, number)
	}
}
