//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestInitKilled: an init that was killed has made a board with hooks, or none, and then it can be
// repeated, or doctor makes what it has begun whole.
func TestInitKilled(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	tries, takes := 6, 100*time.Millisecond
	if *testrun.Long {
		tries = 300
	}
	boards := 0
	for range tries {
		if !timeLeft(t) {
			break
		}
		p := newRepository(t)
		began := time.Now()
		if _, _, code := p.runFor(time.Duration(random.Int64N(int64(takes))), "", "git-liza", "init", "Build a calculator"); code == 0 {
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

// TestBegunHalfway: git moves the refs of a board's first operation one after the other, and may end
// before the board, by a kill or a full disk. Then there is no board yet, and the same request
// begins it, exactly once.
func TestBegunHalfway(t *testing.T) {
	t.Parallel()
	p := newRepository(t)
	args := []string{"init", "Build a calculator", "--request", "the-same"}
	// No reflog can be written here: git finds that out when it comes to the board.
	log := filepath.Join(p.dir, ".git", "logs", "refs", "heads", "liza", "state")
	testrun.Check(t, os.MkdirAll(filepath.Join(log, "in the way"), 0o755))
	testrun.Check(t, os.WriteFile(filepath.Join(log, "in the way", "file"), nil, 0o644))
	if _, errs, code := p.liza("", args...); code != 3 {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	refs := p.git("for-each-ref", "--format=%(refname)")
	for _, ref := range []string{"refs/heads/integration", "refs/liza/home"} {
		if !strings.Contains(refs, ref+"\n") {
			t.Fatalf("%s has not moved:\n%s", ref, refs)
		}
	}
	if strings.Contains(refs, "refs/heads/liza/state") {
		t.Fatalf("the board is there:\n%s", refs)
	}
	testrun.Check(t, os.RemoveAll(log))
	if _, errs, code := p.liza("", "status"); code != 1 || !strings.Contains(errs, "there is no board here yet") {
		t.Errorf("status: exit %d\n%s", code, errs)
	}
	for range 2 {
		p.must("", args...)
	}
	if n := strings.Count(p.git("log", "--format=%s", "liza/state"), "\n"); n != 1 {
		t.Errorf("%d operations", n)
	}
	if said := p.must("", "hooks", "status"); !strings.HasPrefix(said, "hooks: on, for agents") {
		t.Error(said)
	}
	if out := p.must("", "doctor"); !strings.HasPrefix(out, "no problems found\n") {
		t.Error(out)
	}
	p.proven()
}
