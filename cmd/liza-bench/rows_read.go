package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

func newWriter(w io.Writer) *bufio.Writer { return bufio.NewWriterSize(w, 1<<20) }

// benchReads measures what people and agents look at, on a board of 1 000 tasks.
func benchReads(l *lab) error {
	n := l.pick(20, 1000, 1000)
	s, err := l.site("read", boardSize{tasks: n})
	if err != nil {
		return err
	}
	note := s.noting("note")
	f, err := s.floorOf(note)
	if err != nil {
		return err
	}
	cold := func(args ...string) arm {
		return arm{args[0], func() (time.Duration, error) {
			if err := os.RemoveAll(filepath.Join(s.dir, ".git", "liza", "cache")); err != nil {
				return 0, err
			}
			return s.liza("", args...)
		}, func() error { _, err := s.liza("", "status"); return err }}
	}
	show := s.reading("show", s.tasks[0])
	got, err := l.measure(l.rounds(), f.arm(), s.reading("status"), s.reading("read"), s.reading("read", "tasks."+s.tasks[0]+".status"), show, cold("status"))
	if err != nil {
		return err
	}
	tasks := fmt.Sprintf(", %s tasks", thousands(n))
	l.row("status"+tasks, got[1], got[0], "F", 4, 40)
	l.row("read"+tasks, got[2], got[0], "F", 4, 40)
	l.row("read one field"+tasks, got[3], got[0], "F", 4, 40)
	l.row("show one task"+tasks, got[4], got[0], "F", 0, 30)
	if err := benchReadsArchived(l, n); err != nil {
		return err
	}
	l.row("status without its cache"+tasks, got[5], got[0], "F", 0, 0)
	return nil
}

// benchReadsArchived measures the same beside an archive. One task in ten depends on an archived
// one.
func benchReadsArchived(l *lab, live int) error {
	n := l.pick(20, 1000, 10_000)
	s, err := l.site("read-archived", boardSize{tasks: live, archived: n})
	if err != nil {
		return err
	}
	f, err := s.floorOf(s.noting("note"))
	if err != nil {
		return err
	}
	got, err := l.measure(l.rounds(), f.arm(), s.reading("status"), s.reading("read"), s.reading("show", s.tasks[0]), s.reading("show", oldID(0)))
	if err != nil {
		return err
	}
	beside := fmt.Sprintf(", %s tasks beside %s archived", thousands(live), thousands(n))
	l.row("status"+beside, got[1], got[0], "F", 4, 40)
	l.row("read"+beside, got[2], got[0], "F", 4, 40)
	l.row("show one task"+beside, got[3], got[0], "F", 0, 30)
	l.row("show an archived task"+beside, got[4], got[0], "F", 0, 30)
	return nil
}

// thousands writes a number with thin gaps.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + " " + text[at:]
	}
	return text
}

// benchVerify measures the replay of a board's history.
func benchVerify(l *lab) error {
	sizes := []int{l.pick(30, 2000, 2000)}
	if !l.o.quick && !l.o.tiny {
		sizes = append(sizes, 10_000)
	}
	for _, n := range sizes {
		age := time.Duration(2*n+3600) * time.Second
		s, err := l.board(fmt.Sprintf("verify-%d", n), age, func(h *history) error { return h.lives(n) })
		if err != nil {
			return err
		}
		got, err := l.measure(max(2, l.rounds()/10), s.everyCommit(), s.reading("verify"))
		if err != nil {
			return err
		}
		perCommit := 1 / float64(n)
		l.row(fmt.Sprintf("verify, a commit of %s in lives of tasks", thousands(n)), got[1].times(perCommit), got[0].times(perCommit), "git rev-list and cat-file of it", 0, 0.5)
		rate := float64(n) / got[1].median() * 1000
		l.remark("verify: %.0f commits/s over %s commits (bar 2 000)", rate, thousands(n))
	}
	return nil
}

// benchCheck measures the check of a range in a fresh clone against the replay of its board alone.
func benchCheck(l *lab) error {
	n := l.pick(30, 5000, 5000)
	s, err := l.board(fmt.Sprintf("check-%d", n), time.Duration(2*n+3600)*time.Second, func(h *history) error { return h.lives(n) })
	if err != nil {
		return err
	}
	for _, args := range [][]string{{"switch", "-q", "-c", "work", "integration"}, {"commit", "-q", "--allow-empty", "-m", "work"}, {"switch", "-q", "-"}} {
		if _, err := s.git(args...); err != nil {
			return err
		}
	}
	if _, err := s.liza("", "land", "work"); err != nil {
		return err
	}
	hub, err := l.share(s, plainHub)
	if err != nil {
		return err
	}
	fresh := &site{l: l, dir: s.dir + "-fresh"}
	if _, err := s.git("clone", "-q", hub.dir, fresh.dir); err != nil {
		return err
	}
	got, err := l.measure(max(3, l.rounds()/5), fresh.reading("verify"), fresh.reading("check", "origin/integration~1..origin/integration"))
	if err != nil {
		return err
	}
	l.row(fmt.Sprintf("check in a fresh clone, %s operations", thousands(n)), got[1], got[0], "verify there", 1.5, 0)
	return nil
}

func (s samples) times(factor float64) samples {
	out := make(samples, len(s))
	for i := range s {
		out[i] = s[i] * factor
	}
	return out
}

// checked makes sure that a made history is one: verify proves every commit of it.
func (s *site) checked() error {
	out, err := s.l.command(s.dir, s.l.liza, "verify").CombinedOutput()
	if err != nil {
		return fmt.Errorf("a made history does not verify: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// everyCommit is git's own reading of all the board's commits.
func (s *site) everyCommit() arm {
	return arm{"git cat-file of every commit", func() (time.Duration, error) {
		start := time.Now()
		list, err := s.git("rev-list", plumbing.BoardRef)
		if err != nil {
			return 0, err
		}
		_, err = pipe(s.l.command(s.dir, "git", "cat-file", "--batch"), list+"\n")
		return time.Since(start), err
	}, nil}
}
