package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// benchGoals compares boards of 5 goals and a team of 10 roles with the board of 10 tasks, one goal
// and the built-in team.
func benchGoals(l *lab) error {
	const goals, roles = 5, 10
	_, plain, err := l.smallWrites("goals-one", boardSize{tasks: 10})
	if err != nil {
		return err
	}
	wide, writes, err := l.smallWrites("goals-small", boardSize{tasks: 10, goals: goals, roles: roles})
	if err != nil {
		return err
	}
	n := l.pick(20, 1000, 1000)
	large, err := l.site("goals-large", boardSize{tasks: n, goals: goals, roles: roles})
	if err != nil {
		return err
	}
	claimed, err := l.site("goals-claim", boardSize{tasks: 10})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(claimed.dir, ".worktrees"), 0o755); err != nil {
		return err
	}
	var all []arm
	for i, w := range writes {
		f, err := wide.floorOf(w)
		if err != nil {
			return err
		}
		all = append(all, f.arm(), plain[i], w)
	}
	claim, checkout := claimed.claiming()
	largeClaim, largeCheckout := large.claiming()
	got, err := l.measure(l.rounds(), append(all, checkout, claim, largeCheckout, largeClaim, large.reading("status"))...)
	if err != nil {
		return err
	}
	team := fmt.Sprintf(", %d goals and %d roles", goals, roles)
	for i, w := range writes {
		l.row(w.name+team, got[3*i+2], got[3*i], "F", 1.5, 0)
		l.row(w.name+team, got[3*i+2], got[3*i+1], "one goal, 3 roles", 0, 0)
	}
	last := got[len(all):]
	tasks := fmt.Sprintf(", %s live tasks", thousands(n)) + team
	l.row("claim less the checkout"+tasks, last[3].less(last[2]), last[1].less(last[0]), "10 tasks, one goal", 1.5, 0)
	l.row("status"+tasks, last[4], got[0], "F", 4, 40)
	return nil
}
