package remote

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// place is this clone's among those that write at the same time. Who has just won knows the board, and is a fetch ahead
// of the others. So it lets as many pushes of others in as there were since its own last one, unless nobody comes; and
// now and then one where it has met nobody, since it can't see who waits.
type place struct {
	Tip    git.OID       `json:"tip"`    // of the board after this clone's last push
	Pushed time.Time     `json:"pushed"` // when that was
	Took   time.Duration `json:"took"`   // by it
	Links  int           `json:"links"`  // in it
	Lost   int           `json:"lost"`   // links of the last push, if it was overtaken
	Turns  int           `json:"turns"`  // pushes of others that are let in before the next
	Streak int           `json:"streak"` // of pushes in which it met nobody
	Met    time.Time     `json:"met"`    // when it met another clone last
}

const (
	placeFile = "place"
	// mostTurns is how many pushes of others are let in at most, and mostAway for how long.
	mostTurns = 16
	mostAway  = 20 * time.Second
	// busy is how many times as long as a push takes there may be between two, where clones wait for each other.
	busy = 3
	// metLately is for how long a clone that has met others gives way to those that it can't see.
	metLately = 2 * time.Minute
	// met and unmet are how many pushes it makes without a pause in between until then, and otherwise.
	met, unmet = 2, 8
)

func (s *Store) place() (p place) {
	if data, err := os.ReadFile(s.file(placeFile)); err == nil && json.Unmarshal(data, &p) != nil {
		p = place{}
	}
	return p
}

// giveWay waits while it is others' turn, and looks what they do. It reports whether it has.
func (s *Store) giveWay(ctx context.Context) bool {
	p := s.place()
	if p.Turns <= 0 || s.now().Sub(p.Pushed) > busy*p.Took*time.Duration(p.Turns) {
		return false // those who waited have had their time
	}
	defer gitio.Trace("give way to other clones")()
	began := s.now()
	for seen := p.Tip; p.Turns > 0 && s.now().Sub(began) < mostAway; {
		if !wait(ctx, p.Took+p.Took/10) || s.Fetch(ctx) != nil {
			break
		}
		here, err := s.repo.Ref(ctx, git.BoardRef)
		if err != nil || here == seen {
			break // nobody waits any more
		}
		p.Turns -= max(1, s.pushesBetween(ctx, seen, here, p.Links))
		seen = here
	}
	p.Turns = 0
	s.keepPlace(p)
	return true
}

// pushesBetween estimates by how many pushes a board has come from one commit to another.
func (s *Store) pushesBetween(ctx context.Context, from, to git.OID, links int) int {
	commits, err := s.repo.Log(ctx, from, to)
	if err != nil {
		return 0
	}
	return (len(commits) + max(1, links) - 1) / max(1, links) // as many operations a push as here
}

// gather lets those come along who decide at the moment, and those who decide again what a push has lost, for a fraction
// of what a push takes.
func (s *Store) gather(ctx context.Context) {
	const step = 5 * time.Millisecond
	p := s.place()
	most := min(p.Took/4, time.Second)
	for waited := time.Duration(0); waited < most; waited += step {
		c, err := s.chain(ctx)
		if err != nil || len(c.Links) >= p.Lost && !s.deciding() || !wait(ctx, step) {
			return
		}
	}
}

// deciding reports whether a process of this clone decides at the moment.
func (s *Store) deciding() bool {
	file, err := os.OpenFile(s.file(TurnFile), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	return errors.Is(gitio.TryQueue(file), gitio.ErrHeld)
}

// TurnFile is the file, among a clone's own, by which its processes decide one after the other.
const TurnFile = "turn"

// won notes a push that began at a time and that the remote has taken.
func (s *Store) won(ctx context.Context, c *chain, began time.Time) {
	p, now := s.place(), s.now()
	others := 0
	if p.Tip != "" && p.Tip != c.Base {
		others = s.pushesBetween(ctx, p.Tip, c.Base, len(c.Links))
	}
	lately := now.Sub(p.Met) < metLately
	if p.Tip == "" && lately {
		others = 1
	}
	since := now.Sub(p.Pushed)
	p = place{Tip: c.tip(), Pushed: now, Took: now.Sub(began), Links: len(c.Links), Streak: p.Streak + 1, Met: p.Met}
	every := unmet
	if lately {
		every = met
	}
	switch {
	case others > 0 && (lately || since < busy*p.Took*time.Duration(others)): // one push upon the other
		p.Turns, p.Streak, p.Met = min(others, mostTurns), 0, now
	case since < busy*p.Took && p.Streak%every == 0:
		p.Turns = 1
	}
	s.keepPlace(p)
}

// lost notes a push that another clone's has overtaken.
func (s *Store) lost(c *chain) {
	p := s.place()
	p.Met, p.Lost = s.now(), len(c.Links)
	s.keepPlace(p)
}

func (s *Store) keepPlace(p place) {
	text, err := json.Marshal(p)
	if err == nil {
		_ = s.write(placeFile, text) // without it nobody is given way
	}
}

// wait reports false when the context has ended before.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
