package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// benchTrains merges 16 approved tasks with an integration test that takes two seconds, under the
// default settings.
func benchTrains(l *lab) error {
	n, seconds := l.pick(2, 16, 16), "2"
	if l.o.tiny {
		seconds = "0.1"
	}
	s, err := l.site("train", boardSize{tasks: n})
	if err != nil {
		return err
	}
	test := "sleep " + seconds
	if _, err := s.liza("", "config", "set", "integration_test", test); err != nil {
		return err
	}
	for _, task := range s.tasks {
		if _, err := s.approved(task); err != nil {
			return err
		}
	}
	alone := arm{"one test", func() (time.Duration, error) { return l.timed(s.dir, nil, "sh", "-c", test) }, nil}
	merge := arm{"merge --all", func() (time.Duration, error) { return s.liza("code-reviewer-1", "merge", "--all") }, func() error {
		// A tree that has passed would not be tested again.
		if err := os.Remove(filepath.Join(s.dir, ".git", "liza", "tested")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return s.unmerge(s.tasks...)
	}}
	got, err := l.measure(l.pick(1, 3, 10), alone, merge)
	if err != nil {
		return err
	}
	l.row(fmt.Sprintf("merge of %d approved tasks, a test of 2 s", n), got[1], got[0], "one test", 3, 0)
	return l.children(fmt.Sprintf("merge of %d approved tasks", n), merge)
}

// children counts the processes that a command starts, by a git that leaves a mark for each.
func (l *lab) children(name string, of arm) error {
	dir, err := os.MkdirTemp(l.dir, "children")
	if err != nil {
		return err
	}
	git, err := l.command(l.dir, "sh", "-c", "command -v git").Output()
	if err != nil {
		return err
	}
	marks := filepath.Join(dir, "marks")
	script := fmt.Sprintf("#!/bin/sh\necho >>'%s'\nexec '%s' \"$@\"\n", marks, string(git[:len(git)-1]))
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		return err
	}
	env := l.env
	l.env = append(env[:len(env):len(env)], "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	_, err = of.run()
	l.env = env
	text, unread := os.ReadFile(marks)
	if err := errors.Join(err, unread, of.tidy()); err != nil {
		return err
	}
	l.remark("%s: %d children (git)", name, len(text))
	return nil
}
