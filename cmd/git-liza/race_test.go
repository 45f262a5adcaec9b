//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

func TestSixteenProcessesClaimOneTask(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("only-one")
	const n = 16
	for i := 1; i <= n; i++ {
		p.must("", "register", fmt.Sprintf("coder-%d", i))
	}
	keeping := p.housekeeping()
	codes := make([]int, n)
	said := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			_, said[i], codes[i] = p.liza(fmt.Sprintf("coder-%d", i+1), "claim", "only-one")
			keeping.wrote()
		})
	}
	wg.Wait()
	keeping.end()
	winners := 0
	for i, code := range codes {
		switch code {
		case 0:
			winners++
		case 1:
			if !strings.Contains(said[i], "only-one") {
				t.Errorf("coder-%d is not told what happened: %s", i+1, said[i])
			}
		default:
			t.Errorf("coder-%d: exit %d\n%s", i+1, code, said[i])
		}
	}
	if winners != 1 {
		t.Errorf("%d processes won the claim", winners)
	}
	var trees int
	entries, err := os.ReadDir(filepath.Join(p.dir, ".worktrees"))
	if err != nil {
		t.Fatal(err)
	}
	for range entries {
		trees++
	}
	if trees != 1 {
		t.Errorf("%d worktrees are left, one is the winner's", trees)
	}
	p.must("", "doctor")
	p.proven()
}

func TestEightWritersAndAHousekeeper(t *testing.T) {
	t.Parallel()
	t.Run("in turn", func(t *testing.T) {
		testrun.LongOnly(t)
		t.Parallel()
		eightWriters(t, newProject(t))
	})
	t.Run("racing", func(t *testing.T) {
		t.Parallel()
		eightWriters(t, newProject(t).withoutTurns())
	})
}

// withoutTurns removes the queue in which processes wait for each other, so that only
// compare-and-swap protects the board.
func (p *project) withoutTurns() *project {
	p.t.Helper()
	turn := filepath.Join(p.dir, ".git", "liza", "turn")
	if err := os.RemoveAll(turn); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Mkdir(turn, 0o755); err != nil {
		p.t.Fatal(err)
	}
	return p
}

// broughtBack runs a command that reads the board. A prune that began before the last write may
// have deleted that write since; git itself misses it until the next command brings it back.
func (p *project) broughtBack() {
	p.t.Helper()
	p.must("", "status")
}

func eightWriters(t *testing.T, p *project) {
	const writers = 8
	each := 3
	if *testrun.Long {
		each = 100
	}
	keeping := p.housekeeping()
	acknowledged := make([][]string, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				text := fmt.Sprintf("note %d of writer %d", i, w)
				out, errs, code := p.liza("", "note", text, "--json", "--retries", "500")
				keeping.wrote()
				if code != 0 {
					t.Errorf("%s: exit %d\n%s", text, code, errs)
					continue
				}
				var done struct{ Commit string }
				if err := json.Unmarshal([]byte(out), &done); err != nil {
					t.Errorf("%s: %v", text, err)
				}
				acknowledged[w] = append(acknowledged[w], done.Commit)
			}
		})
	}
	wg.Wait()
	keeping.end()
	p.broughtBack()
	history := map[string]bool{}
	for _, commit := range strings.Fields(p.git("rev-list", "--first-parent", "liza/state")) {
		history[commit] = true
	}
	total := 0
	for _, commits := range acknowledged {
		for _, commit := range commits {
			total++
			if !history[commit] {
				t.Errorf("%s was acknowledged and is not in the history", commit)
			}
		}
	}
	if want := writers * each; total != want || len(history) != want+1 {
		t.Errorf("%d notes acknowledged, %d commits in the history, want %d and %d", total, len(history), want, want+1)
	}
	p.proven()
}
