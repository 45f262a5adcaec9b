//go:build linux

package main

import (
	"strings"
	"testing"
	"time"
)

// TestInitKilled: an init that was killed has made a board with hooks, or none, and then it can be
// repeated, or doctor makes what it has begun whole.
func TestInitKilled(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	tries, takes := 6, 100*time.Millisecond
	if *long {
		tries = 300
	}
	boards := 0
	for range tries {
		if !timeLeft(t) {
			break
		}
		p := newRepository(t)
		began := time.Now()
		if _, code := p.runFor(time.Duration(random.Int64N(int64(takes))), "", "git-liza", "init", "Build a calculator"); code == 0 {
			takes = (takes + time.Since(began)) / 2
		}
		if tip := p.git("for-each-ref", "refs/heads/liza/state"); tip == "" {
			// Git moves one ref after the other, and may have been killed between those of the board.
			if _, errs, code := p.liza("", "init", "Build a calculator"); code == 4 && strings.Contains(errs, "git liza doctor") {
				p.must("", "doctor", "--fix")
			} else if code != 0 {
				t.Errorf("again: exit %d\n%s", code, errs)
			}
		} else {
			boards++
		}
		if said := p.must("", "hooks", "status"); !strings.HasPrefix(said, "hooks: on, for agents") {
			t.Errorf("there is a board, and %s", said)
		}
		p.must("", "note", "a word")
		p.must("", "verify")
	}
	t.Logf("%d of %d had a board; one takes %v", boards, tries, takes.Round(time.Millisecond))
}

// TestInitInTheWay: an init that fails before there is a board leaves no hooks, and can be repeated.
func TestInitInTheWay(t *testing.T) {
	t.Parallel()
	p := newRepository(t)
	p.write(".liza", "")
	if _, errs, code := p.liza("", "init", "Build a calculator"); code == 0 || !strings.Contains(errs, ".liza") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if tip := p.git("for-each-ref", "refs/heads/liza"); tip != "" {
		t.Errorf("there is a board: %s", tip)
	}
	p.git("clean", "-fdq", ".liza")
	p.must("", "init", "Build a calculator")
	if said := p.must("", "hooks", "status"); !strings.HasPrefix(said, "hooks: on, for agents") {
		t.Error(said)
	}
	q := newRepository(t)
	config := q.git("config", "--list", "--local")
	if _, _, code := q.liza("", "init", "Build a calculator", "--spec", "specs/none.md"); code != 1 {
		t.Errorf("exit %d", code)
	}
	if now := q.git("config", "--list", "--local"); now != config {
		t.Errorf("a refused init has changed the settings:\n%s\n%s", config, now)
	}
}
