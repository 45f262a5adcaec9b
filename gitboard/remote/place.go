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

// place is this clone's among those that write at the same time. Who has just won knows the board, and is ready to win
// again while the others still look who has. So it gives way for as long as the others were let in since its last
// push; and now and then where it has met none of them, since it can't see who waits.
type place struct {
	Tip    git.OID       `json:"tip"`    // of the board after this clone's last push
	Pushed time.Time     `json:"pushed"` // when that was
	Until  time.Time     `json:"until"`  // it gives way
	Took   time.Duration `json:"took"`   // by its last push
	Streak int           `json:"streak"` // of pushes in which it met nobody
	Met    time.Time     `json:"met"`    // when it met another clone last
}

const (
	placeFile = "place"
	// mostTurns is for how many pushes of others it gives way at most, and mostAway for how long.
	mostTurns = 16
	mostAway  = 15 * time.Second
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

// giveWay waits while it is others' turn, and looks what they have done. It reports whether it has.
func (s *Store) giveWay(ctx context.Context) bool {
	left := min(s.place().Until.Sub(s.now()), mostAway)
	if left <= 0 {
		return false
	}
	defer gitio.Trace("give way to other clones")()
	if !wait(ctx, left) {
		return true
	}
	p := s.place()
	p.Until = time.Time{}
	s.keepPlace(p)
	_ = s.Fetch(ctx) // else the push finds out
	return true
}

// gather lets those come along who decide at the moment, for a fraction of what a push takes.
func (s *Store) gather(ctx context.Context) {
	const step = 4 * time.Millisecond
	most := min(s.place().Took/8, time.Second)
	for waited := time.Duration(0); waited < most && s.deciding() && wait(ctx, step); waited += step {
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
		if since, err := s.repo.Log(ctx, p.Tip, c.Base); err == nil {
			others = (len(since) + len(c.Links) - 1) / len(c.Links) // as many operations a push as here
		}
	}
	since := now.Sub(p.Pushed)
	p.Tip, p.Pushed, p.Took, p.Until = c.tip(), now, now.Sub(began), time.Time{}
	switch {
	case others > 0 && since < busy*p.Took*time.Duration(others): // one push upon the other
		p.Streak, p.Met = 0, now
		p.Until = now.Add(min(p.Took*time.Duration(min(others, mostTurns)), mostAway))
	default:
		every := unmet
		if now.Sub(p.Met) < metLately {
			every = met
		}
		if p.Streak++; since < busy*p.Took && p.Streak%every == 0 {
			p.Until = now.Add(min(p.Took*3/2, mostAway))
		}
	}
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
