package main

import (
	"fmt"
	"path/filepath"
	"time"
)

// claiming are claims without a name on a site, and the checkout that is in each of them.
func (s *site) claiming() (claim, checkout arm) {
	claim = arm{"claim", func() (time.Duration, error) {
		return s.liza("coder-1", "claim")
	},
		func() error { return s.unclaim() }}
	path := filepath.Join(s.dir, ".worktrees", ".checkout")
	checkout = arm{"checkout", func() (time.Duration, error) {
		start := time.Now()
		_, err := s.git("-c", "core.hooksPath=/dev/null", "worktree", "add", "--quiet", "--detach", path, s.base)
		return time.Since(start), err
	}, func() error { _, err := s.git("worktree", "remove", "--force", path); return err }}
	return claim, checkout
}

// benchClaims compares claims on a large board with those on a board of 10 tasks.
func benchClaims(l *lab) error {
	small, err := l.site("claim-10", boardSize{tasks: 10})
	if err != nil {
		return err
	}
	n := l.pick(20, 1000, 1000)
	large, err := l.site("claim-many", boardSize{tasks: n})
	if err != nil {
		return err
	}
	archived := l.pick(20, 1000, 10_000)
	old, err := l.site("claim-archived", boardSize{tasks: 10, archived: archived})
	if err != nil {
		return err
	}
	smallClaim, smallCheckout := small.claiming()
	largeClaim, largeCheckout := large.claiming()
	oldClaim, oldCheckout := old.claiming()
	got, err := l.measure(l.rounds(), smallCheckout, smallClaim, largeCheckout, largeClaim, oldCheckout, oldClaim)
	if err != nil {
		return err
	}
	smallNet, largeNet := got[1].less(got[0]), got[3].less(got[2])
	l.row(fmt.Sprintf("claim less the checkout, %s live tasks", thousands(n)), largeNet, smallNet, "10 tasks", 1.5, 0)
	l.row(fmt.Sprintf("claim less the checkout, 10 live and %s archived tasks", thousands(archived)), got[5].less(got[4]), smallNet, "10 tasks", 1.2, 0)
	return nil
}
