package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// benchMany measures what a board of very many costs that hang together: a sprint of tasks each of
// which depends on the one before, and as many worktrees side by side.
func benchMany(l *lab) error {
	if err := l.chain(l.pick(30, 500, 5000)); err != nil {
		return err
	}
	return l.worktrees(l.pick(3, 20, 200))
}

func (l *lab) chain(n int) error {
	s, err := l.board("chain", time.Duration(n+3600)*time.Second, func(h *history) error {
		var err error
		for i := 0; i < n && err == nil; i++ {
			p := h.task(taskID(i))
			p.Ready = false
			if i > 0 {
				p.DependsOn = []string{taskID(i - 1)}
			}
			err = h.do(human, p)
		}
		return err
	})
	if err != nil {
		return err
	}
	got, err := l.measure(max(2, l.rounds()/10), s.everyCommit(), s.reading("validate"), s.reading("verify"))
	if err != nil {
		return err
	}
	l.row("validate, a chain of "+thousands(n)+" tasks", got[1], got[0], "git cat-file of its commits", 0, 1000)
	l.row("verify, a chain of "+thousands(n)+" tasks", got[2], got[0], "git cat-file of its commits", 0, 1000)
	return nil
}

// worktrees measures doctor, and a claim, beside the worktrees of so many claimed tasks.
func (l *lab) worktrees(n int) error {
	alone, err := l.claimers("alone", n)
	if err != nil {
		return err
	}
	beside, err := l.claimers("worktrees", n)
	if err != nil {
		return err
	}
	for i := range n {
		if _, err := beside.liza(fmt.Sprintf("coder-%d", i+2), "claim", taskID(i)); err != nil {
			return err
		}
	}
	if err := beside.remember(); err != nil {
		return err
	}
	last := taskID(n)
	claim := func(s *site) arm {
		return arm{"claim", func() (time.Duration, error) { return s.liza("coder-1", "claim", last) }, func() error { return s.unclaim() }}
	}
	got, err := l.measure(max(3, l.rounds()/4), claim(alone), claim(beside), beside.reading("doctor"))
	if err != nil {
		return err
	}
	l.row(fmt.Sprintf("claim beside %d worktrees", n), got[1], got[0], "claim beside none", 2, 0)
	l.row(fmt.Sprintf("doctor, %d worktrees", n), got[2], got[0], "claim beside none", 0, 2000)
	return nil
}

// claimers makes a project with n+1 tasks to claim, and a coder for each.
func (l *lab) claimers(name string, n int) (*site, error) {
	s, err := l.board(name, time.Hour, func(h *history) error {
		err := h.agents("coder-1")
		for i := 0; i <= n && err == nil; i++ {
			if err = h.agents(fmt.Sprintf("coder-%d", i+2)); err == nil {
				err = h.do(human, h.task(taskID(i)))
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, os.MkdirAll(filepath.Join(s.dir, ".worktrees"), 0o755)
}
