package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// benchWrites measures one mutating command as a whole process on a board of 10 tasks.
func benchWrites(l *lab) error {
	s, err := l.site("write", boardSize{tasks: 10})
	if err != nil {
		return err
	}
	submitted, err := s.submitted()
	if err != nil {
		return err
	}
	arms := []arm{
		s.noting("note"),
		{"block", func() (time.Duration, error) {
			return s.liza("coder-2", "block", submitted.other, "--reason", fmt.Sprintf("the interface is not settled, draft %d", l.next()), "--question", "Which draft holds?")
		}, s.restore},
		{"verdict", func() (time.Duration, error) {
			return s.liza("code-reviewer-1", "verdict", submitted.task, "APPROVED", "--commit", submitted.commit)
		}, s.restore},
	}
	bars := map[string]float64{"note": 1.5, "block": 1.5, "verdict": 1.5}
	var all []arm
	for _, a := range arms {
		f, err := s.floorOf(a)
		if err != nil {
			return err
		}
		all = append(all, f.arm(), a)
	}
	all = append(all, arm{"a Go process", func() (time.Duration, error) { return l.timed(s.dir, nil, l.noop) }, nil}, s.reading("version"))
	got, err := l.measure(l.rounds(), all...)
	if err != nil {
		return err
	}
	for i, a := range arms {
		l.row(a.name+", 10 tasks", got[2*i+1], got[2*i], "F", bars[a.name], 0)
	}
	last := len(all) - 2
	l.row("version (starts, asks git its version)", got[last+1], got[last], "a Go process", 0, 0)
	return nil
}

// submission is a task that waits for its verdict, and another that its coder works on.
type submission struct{ task, commit, other string }

// submitted takes a task to its review, and another to its coder, by the commands that do so.
func (s *site) submitted() (sub submission, err error) {
	sub.task, sub.other = s.tasks[0], s.tasks[1]
	worktree := filepath.Join(s.dir, ".worktrees", sub.task)
	steps := []struct {
		as   string
		args string
	}{
		{"coder-1", "claim " + sub.task},
		{"coder-1", "pre-exec " + sub.task + " --intent test-then-code --validation go-test --file main_test.go"},
		{"", ""},
		{"coder-1", "submit " + sub.task},
		{"code-reviewer-1", "claim-review " + sub.task},
		{"coder-2", "claim " + sub.other},
	}
	for _, step := range steps {
		if step.args == "" {
			if err = os.WriteFile(filepath.Join(worktree, "main_test.go"), []byte("package main\n"), 0o644); err != nil {
				return sub, err
			}
			for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", "work"}} {
				if _, err = s.git(append([]string{"-C", worktree}, args...)...); err != nil {
					return sub, err
				}
			}
			if sub.commit, err = s.git("-C", worktree, "rev-parse", "HEAD"); err != nil {
				return sub, err
			}
			continue
		}
		if _, err = s.liza(step.as, strings.Fields(step.args)...); err != nil {
			return sub, err
		}
	}
	return sub, s.remember()
}

// benchMillion measures the same note in a repository of a million packed objects.
func benchMillion(l *lab) error {
	small, err := l.site("small", boardSize{tasks: 10})
	if err != nil {
		return err
	}
	large, err := l.site("million", boardSize{tasks: 10})
	if err != nil {
		return err
	}
	const objects = 1_000_000
	start := time.Now()
	if err := large.fill(objects); err != nil {
		return err
	}
	l.say("  made %d objects in %.0f s", objects, time.Since(start).Seconds())
	got, err := l.measure(l.rounds(), small.noting("small"), large.noting("large"), small.reading("status"), large.reading("status"))
	if err != nil {
		return err
	}
	l.row("note, repository of 1 000 000 packed objects", got[1], got[0], "small repository", 1.2, 0)
	l.row("status, repository of 1 000 000 packed objects", got[3], got[2], "small repository", 1.2, 0)
	return nil
}

// fill adds a branch with so many small files in directories of a thousand, in one pack.
func (s *site) fill(objects int) error {
	cmd := s.l.command(s.dir, "git", "fast-import", "--quiet")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	h := newWriter(in)
	when := time.Now().Unix()
	const a = 10_000
	for n := 0; n < objects; n += a {
		fmt.Fprintf(h, "commit refs/heads/huge\ncommitter Bench <bench@example.org> %d +0000\ndata 5\nfiles\n", when)
		for i := n; i < min(n+a, objects); i++ {
			text := fmt.Sprintf("file %d\n", i)
			fmt.Fprintf(h, "M 100644 inline d%03d/f%06d\ndata %d\n%s\n", i/1000, i, len(text), text)
		}
	}
	err = h.Flush()
	in.Close()
	if waited := cmd.Wait(); waited != nil {
		return fmt.Errorf("git fast-import: %w: %s", waited, said.String())
	}
	if err != nil {
		return err
	}
	return s.settle()
}
