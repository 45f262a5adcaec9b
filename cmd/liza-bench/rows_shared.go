package main

import (
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/parcel"
)

// hubKind is a hub's treatment of pushes to the board.
type hubKind int

const (
	plainHub      hubKind = iota // takes them
	lockedHub                    // checks them
	sequencingHub                // checks them, and decides operations itself
)

// benchShared measures what it costs that a board is shared by a bare repository on the same disk,
// whose server sequences: a note and a claim against the same on a board of one clone, and many
// clones that write at once.
func benchShared(l *lab) error {
	if err := l.sharedNotes(); err != nil {
		return err
	}
	if err := l.sharedClaims(); err != nil {
		return err
	}
	if err := l.lone(); err != nil {
		return err
	}
	return l.fleet()
}

// share makes a hub for a site, and shares the site's board by it.
func (l *lab) share(s *site, kind hubKind) (hub *site, err error) {
	hub = &site{l: l, dir: s.dir + ".git"}
	if _, err := s.git("init", "-q", "--bare", hub.dir); err != nil {
		return nil, err
	}
	if kind != plainHub {
		if _, err := hub.liza("", "hooks", "install", "--server"); err != nil {
			return nil, err
		}
	}
	if kind == lockedHub {
		if _, err := hub.git("update-ref", "-d", parcel.Ref); err != nil {
			return nil, err
		}
	}
	for _, args := range [][]string{{"remote", "add", "origin", hub.dir}, {"push", "-q", "origin", "HEAD:main"}} {
		if _, err := s.git(args...); err != nil {
			return nil, err
		}
	}
	if _, err := s.liza("", "share", "origin"); err != nil {
		return nil, err
	}
	if err := s.remember(); err != nil {
		return nil, err
	}
	return hub, hub.remember()
}

// sharedNotes writes notes on boards of one size that differ in who judges them, and on a large
// one.
func (l *lab) sharedNotes() error {
	many := l.pick(20, 1000, 1000)
	noting := func(name string, tasks int, shared bool, kind hubKind) (arm, error) {
		s, err := l.site(name, boardSize{tasks: tasks})
		if err == nil && shared {
			_, err = l.share(s, kind)
		}
		return arm{name, s.note, nil}, err // the notes stay, on each of them
	}
	var arms []arm
	for _, a := range []struct {
		name   string
		tasks  int
		shared bool
		hub    hubKind
	}{
		{"note-local", 10, false, plainHub}, {"note-unlocked", 10, true, plainHub}, {"note-locked", 10, true, lockedHub},
		{"note-sequenced", 10, true, sequencingHub}, {"note-large", many, true, sequencingHub},
	} {
		one, err := noting(a.name, a.tasks, a.shared, a.hub)
		if err != nil {
			return err
		}
		arms = append(arms, one)
	}
	got, err := l.measure(l.rounds(), arms...)
	if err != nil {
		return err
	}
	l.row("note, shared by a file remote", got[1], got[0], "the same local", 0, 0)
	l.row("note, shared, with the server's lock", got[2], got[0], "the same local", 0, 0)
	l.row("note, shared, by a server that sequences", got[3], got[0], "the same local", 0, 0)
	l.row(fmt.Sprintf("note, shared, by a server that sequences, %s tasks", thousands(many)), got[4], got[3], "10 tasks", 0, 0)
	return nil
}

// sharedClaims compares claims without their checkout.
func (l *lab) sharedClaims() error {
	local, err := l.site("claim-local", boardSize{tasks: 10})
	if err != nil {
		return err
	}
	shared, err := l.site("claim-shared", boardSize{tasks: 10})
	if err != nil {
		return err
	}
	hub, err := l.share(shared, sequencingHub)
	if err != nil {
		return err
	}
	localClaim, localCheckout := local.claiming()
	sharedClaim, sharedCheckout := shared.claiming()
	unclaim := sharedClaim.tidy
	sharedClaim.tidy = func() error {
		if err := unclaim(); err != nil {
			return err
		}
		return hub.restore()
	}
	got, err := l.measure(l.rounds(), localCheckout, localClaim, sharedCheckout, sharedClaim)
	if err != nil {
		return err
	}
	l.row("claim less the checkout, shared, by a server that sequences", got[3].less(got[2]), got[1].less(got[0]), "the same local", 0, 0)
	return nil
}

// clones makes so many clones of a hub that share its board, the first of them the one that has it
// already.
func (l *lab) clones(first, hub *site, most int) ([]*site, error) {
	clones := []*site{first}
	for len(clones) < most {
		c := &site{l: l, dir: fmt.Sprintf("%s-%d", first.dir, len(clones))}
		if _, err := first.git("clone", "-q", hub.dir, c.dir); err != nil {
			return nil, err
		}
		if _, err := c.liza("", "init"); err != nil {
			return nil, err
		}
		clones = append(clones, c)
	}
	return clones, nil
}

// An operation may take half the processor time, the hub's part included, that it took when each
// was pushed alone: 54 ms, and 87 with the server's lock.
const plainShare, lockedShare = 54.0 / 2, 87.0 / 2

// lone lets one clone write notes by hubs that don't sequence, one after the other.
func (l *lab) lone() error {
	for _, a := range []struct {
		name  string
		hub   hubKind
		limit float64
	}{
		{"a file remote", plainHub, plainShare}, {"a remote with the lock", lockedHub, lockedShare},
	} {
		s, err := l.site(strings.ReplaceAll("lone by "+a.name, " ", "-"), boardSize{tasks: 10})
		if err != nil {
			return err
		}
		hub, err := l.share(s, a.hub)
		if err != nil {
			return err
		}
		all, err := l.crowded(hub, []*site{s}, l.pick(2, 4, 20), l.pick(1, 1, 5))
		if err != nil {
			return err
		}
		l.row("one clone writing notes by "+a.name+": processor time an operation", all.used, all.rates, "its time", 0, a.limit)
	}
	return nil
}

// fleet lets one to eight clones write notes by one hub, each one after the other.
func (l *lab) fleet() error {
	first, err := l.site("fleet", boardSize{tasks: 10})
	if err != nil {
		return err
	}
	hub, err := l.share(first, sequencingHub)
	if err != nil {
		return err
	}
	most, each := l.pick(2, 2, 8), l.pick(2, 4, 20)
	clones, err := l.clones(first, hub, most)
	if err != nil {
		return err
	}
	var alone crowded
	for n := 1; n <= most; n *= 2 {
		for _, c := range clones[:n] {
			if _, err := c.liza("", "sync"); err != nil { // what others wrote before is not what is measured
				return err
			}
		}
		all, err := l.crowded(hub, clones[:n], each, l.pick(1, 1, 5))
		if err != nil {
			return err
		}
		many := fmt.Sprintf("%d clones writing notes by one sequencing remote", n)
		if n == 1 {
			alone, many = all, "one clone writing notes by a sequencing remote"
		}
		limit := 0.0
		if n == 8 {
			limit = 1000.0 / 29
			l.row(many+": the slowest operation", samples{all.waits.quantile(1)}, samples{all.waits.median()}, "the median", 0, 3000)
		}
		l.row(many+": time an operation", all.rates, alone.rates, "one clone", 0, limit)
		l.row(many+": processor time an operation", all.used, alone.used, "one clone", 0, lockedShare)
		l.remark("%s: %s", many, all)
	}
	return nil
}
