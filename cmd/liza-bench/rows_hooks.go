package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// benchHooks measures what hooks cost: a human next to nothing, an agent's commit a little, and a
// server's push of a thousand operations.
func benchHooks(l *lab) error {
	if err := l.humansHooks(); err != nil {
		return err
	}
	return l.serverCheck()
}

// humansHooks runs what humans do in two repositories that differ in the hooks alone.
func (l *lab) humansHooks() error {
	var free, guarded []arm
	for _, hooks := range []bool{false, true} {
		name := map[bool]string{false: "free", true: "guarded"}[hooks]
		s, err := l.site(name, boardSize{tasks: 10})
		if err != nil {
			return err
		}
		if hooks {
			if _, err := s.liza("", "hooks", "install"); err != nil {
				return err
			}
		}
		for i := range l.pick(20, 200, 200) {
			if _, err := s.git("branch", fmt.Sprintf("theirs/%d", i), s.base); err != nil {
				return err
			}
		}
		timed := func(args ...string) func() (time.Duration, error) {
			return func() (time.Duration, error) { return l.timed(s.dir, nil, "git", args...) }
		}
		again := func() error {
			_, err := s.git("update-ref", "refs/heads/mine", s.base)
			if err == nil {
				_, err = s.git("reset", "-q", "--hard", s.base)
			}
			return err
		}
		for _, args := range [][]string{{"checkout", "-q", "-b", "mine"}, {"commit", "-q", "--allow-empty", "-m", "one"}, {"commit", "-q", "--allow-empty", "-m", "two"}, {"tag", "work"}, {"reset", "-q", "--hard", s.base}} {
			if _, err := s.git(args...); err != nil {
				return err
			}
		}
		if err := s.remember(); err != nil {
			return err
		}
		arms := []arm{
			{"a human's commit", timed("commit", "-q", "--allow-empty", "-m", "mine"), again},
			{"a human's fetch of 200 branches", timed("fetch", "-q", ".", "refs/heads/theirs/*:refs/remotes/x/*"), s.restore},
			{"a human's rebase of two commits", timed("rebase", "-q", "--onto", s.bases[1], s.base, "work"), func() error {
				_, err := s.git("checkout", "-q", "mine")
				return err
			}},
		}
		if hooks {
			guarded = arms
		} else {
			free = arms
		}
	}
	var all []arm
	for i := range free {
		all = append(all, free[i], guarded[i])
	}
	got, err := l.measure(l.pick(1, 5, 30), all...)
	if err != nil {
		return err
	}
	for i := range free {
		l.row(free[i].name+", with hooks", got[2*i+1], got[2*i], "without", 1.05, 0)
	}
	return l.agentsCommit()
}

// agentsCommit is a commit in a task's worktree, with hooks and without.
func (l *lab) agentsCommit() error {
	s, err := l.site("agent", boardSize{tasks: 10})
	if err != nil {
		return err
	}
	if _, err := s.liza("", "hooks", "install"); err != nil {
		return err
	}
	task := s.tasks[0]
	for _, args := range [][]string{{"claim", task}, {"pre-exec", task, "--intent", "measure", "--validation", "a number", "--file", "main.go"}} {
		if _, err := s.liza("coder-1", args...); err != nil {
			return err
		}
	}
	dir := filepath.Join(s.dir, ".worktrees", task)
	env := []string{"LIZA_AGENT_ID=coder-1", "LIZA_SESSION=" + session}
	commit := func(name string, args ...string) arm {
		args = append(args, "commit", "-q", "--allow-empty", "-m", "work")
		return arm{name, func() (time.Duration, error) { return l.timed(dir, env, "git", args...) }, nil}
	}
	got, err := l.measure(l.pick(1, 5, 30), commit("without", "-c", "core.hooksPath="+os.DevNull), commit("an agent's commit"))
	if err != nil {
		return err
	}
	l.row("an agent's commit, with hooks", got[1], got[0], "without", 0, 0)
	return nil
}

// serverCheck pushes a thousand operations to a shared repository with the lock on, and to one
// without.
func (l *lab) serverCheck() error {
	const checked = 1000
	n := l.pick(20, checked, checked)
	s, err := l.site("pushed", boardSize{tasks: 10, commits: n + 100})
	if err != nil {
		return err
	}
	const state = plumbing.BoardRef
	before, err := s.git("rev-parse", fmt.Sprintf("%s~%d", state, n))
	if err != nil {
		return err
	}
	var arms []arm
	for _, lock := range []bool{false, true} {
		bare := filepath.Join(l.dir, fmt.Sprintf("bare-%v.git", lock))
		if _, err := s.git("init", "-q", "--bare", bare); err != nil {
			return err
		}
		if lock {
			if _, err := l.timed(bare, nil, l.liza, "hooks", "install", "--server"); err != nil {
				return err
			}
		}
		if _, err := s.git("push", "-q", "--atomic", bare, before+":"+state, "integration"); err != nil {
			return err
		}
		arms = append(arms, arm{bare, func() (time.Duration, error) {
			return l.timed(s.dir, nil, "git", "push", "-q", bare, state)
		}, func() error {
			_, err := s.git("-c", "core.hooksPath="+os.DevNull, "--git-dir="+bare, "update-ref", state, before)
			return err
		}})
	}
	got, err := l.measure(l.pick(1, 5, 9), arms...)
	if err != nil {
		return err
	}
	l.row(fmt.Sprintf("a push of %d operations, checked by the server", n), got[1], got[0], "unchecked", 0, 2000)
	return nil
}
