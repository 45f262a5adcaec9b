package share

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/queue"
	"github.com/git-liza/git-liza/gitboard/trace"
)

// place is this clone's place among the clones that write at the same time. A clone that has just
// won knows the board, and is one fetch ahead of the others. So it lets in as many pushes of others
// as there were since its own last one, and stops as soon as no other comes. Now and then it lets
// one in without having met another, because it can't see who waits.
type place struct {
	Tip    plumbing.OID  `json:"tip"`    // of the board after this clone's last push
	Pushed time.Time     `json:"pushed"` // when that push ended
	Took   time.Duration `json:"took"`   // how long it took
	Links  int           `json:"links"`  // how many links it carried
	Ended  time.Time     `json:"ended"`  // when its last push ended, won or not
	Again  int           `json:"again"`  // links that travelled then, or waited
	Turns  int           `json:"turns"`  // pushes of others to let in before the next one
	Streak int           `json:"streak"` // pushes in a row in which it met nobody
	Met    time.Time     `json:"met"`    // when it last met another clone
}

const (
	placeFile = "place"
	// maxTurns bounds the pushes of others that are let in, maxAway the time for it, and maxStep
	// the time for one of them: a push that took longer was held up, perhaps by a dead process, and is
	// no measure for the others.
	maxTurns = 16
	maxAway  = 10 * time.Second
	maxStep  = 3 * time.Second
	// busy is the longest interval between two pushes of contending clones, in durations of a push.
	busy = 3
	// metLately is how long a clone that has met others gives way to clones it can't see.
	metLately = 2 * time.Minute
	// met and unmet are how many pushes it makes without giving way: within metLately, and
	// otherwise.
	met, unmet = 2, 8
)

func (s *Store) place() (p place) {
	if data, err := os.ReadFile(s.file(placeFile)); err == nil && json.Unmarshal(data, &p) != nil {
		p = place{}
	}
	return p
}

// giveWay waits while it is the turn of others, and watches their pushes. It reports whether it
// waited.
func (s *Store) giveWay(ctx context.Context) bool {
	p := s.place()
	if p.Turns <= 0 || s.now().Sub(p.Pushed) > busy*p.Took*time.Duration(p.Turns) {
		return false // those who waited have had their chance
	}
	defer trace.Step("give way to other clones")()
	began := s.now()
	for seen := p.Tip; p.Turns > 0 && s.now().Sub(began) < maxAway; {
		wait(ctx, p.step(s.now().Sub(began)))
		if s.Fetch(ctx) != nil {
			break
		}
		here, err := s.repo.Ref(ctx, plumbing.BoardRef)
		if err != nil || here == seen {
			break // no process waits any more
		}
		p.Turns -= max(1, s.pushesBetween(ctx, seen, here, p.Links))
		seen = here
	}
	p.Turns = 0
	s.keepPlace(p)
	return true
}

// step is how long to wait for one push of another clone after having given way for some time.
func (p place) step(given time.Duration) time.Duration {
	return min(p.Took+p.Took/10, maxStep, maxAway-given)
}

// pushesBetween estimates how many pushes moved a board from one commit to another.
func (s *Store) pushesBetween(ctx context.Context, from, to plumbing.OID, links int) int {
	commits, err := s.repo.Log(ctx, from, to)
	if err != nil {
		return 0
	}
	return (len(commits) + max(1, links) - 1) / max(1, links) // as many per push as here
}

// gather waits for operations that would otherwise wait for the next push: for as many as travelled
// or waited at the end of the last push, if that was just now, and for one that is being decided.
// Callers that were answered may have more to do, and those that lost the race are decided again.
func (s *Store) gather(ctx context.Context) {
	defer trace.Step("wait for operations that can travel together")()
	p := s.place()
	p.Took = min(p.Took, maxAway) // one that took longer was held up
	if p.Again > 1 && s.now().Sub(p.Ended) <= p.Took {
		s.regather(ctx, p)
	}
	s.take(ctx, TurnFile, queue.Wait{Release: true, Most: min(p.Took/4, time.Second)})() // until no process is deciding
}

// regather waits until as many operations are pending as there were at the end of the last push,
// but for one more only while that takes less than the push took for each of those that are here.
func (s *Store) regather(ctx context.Context, p place) {
	appended, stop := disk.Watch(s.file(chainFile))
	defer stop()
	most, next := time.NewTimer(p.Took), time.NewTimer(p.Took/firstShare)
	defer most.Stop()
	defer next.Stop()
	for links, late := 1, false; ; {
		c, err := s.chain(ctx)
		if err != nil || len(c.Links) >= p.Again || late && len(c.Links) <= links {
			return
		}
		if len(c.Links) > links {
			links, late = len(c.Links), false
			next.Reset(p.Took / time.Duration(max(firstShare, links)))
		}
		select {
		case <-appended:
		case <-next.C:
			late = true
		case <-most.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// firstShare is the part of the last push's duration for which an operation waits for the next one,
// until more than that are here.
const firstShare = 2

// TurnFile is the name of the file in the clone's own directory whose lock makes its processes
// decide one at a time.
const TurnFile = "turn"

// won records a push that the remote has taken; began is when it started.
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
	p.Ended, p.Again = now, s.pendingWith(ctx, c)
	every := unmet
	if lately {
		every = met
	}
	switch {
	case others > 0 && (lately || since < busy*p.Took*time.Duration(others)): // back to back
		p.Turns, p.Streak, p.Met = min(others, maxTurns), 0, now
	case since < busy*p.Took && p.Streak%every == 0:
		p.Turns = 1
	}
	s.keepPlace(p)
}

// sequenced records a push whose operations the remote has decided again.
func (s *Store) sequenced(ctx context.Context, c *chain, began time.Time) {
	now := s.now()
	s.keepPlace(place{Took: now.Sub(began), Ended: now, Again: s.pendingWith(ctx, c)})
}

// pendingWith is the number of links of a chain that was pushed, and of those appended since.
func (s *Store) pendingWith(ctx context.Context, pushed *chain) int {
	c, err := s.chain(ctx)
	if err != nil {
		return len(pushed.Links)
	}
	return max(len(pushed.Links), len(c.Links))
}

// lost records a push that lost the race against another clone.
func (s *Store) lost(c *chain) {
	p := s.place()
	p.Met, p.Ended, p.Again = s.now(), s.now(), len(c.Links)
	s.keepPlace(p)
}

func (s *Store) keepPlace(p place) {
	text, _ := json.Marshal(p)
	_ = s.write(placeFile, text) // without it this clone gives way to nobody
}

// wait waits for d, or until the context ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
