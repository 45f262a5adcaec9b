//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
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
			if i%4 == 0 {
				keeping.wrote()
			}
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
	entries := testrun.Must(os.ReadDir(filepath.Join(p.dir, ".worktrees")))(t)
	for range entries {
		trees++
	}
	if trees != 1 {
		t.Errorf("%d worktrees are left, one is the winner's", trees)
	}
	p.must("", "doctor")
	p.proven()
}

// keepers run what people and git itself run in a repository while others write to it.
type keepers struct {
	group sync.WaitGroup
	turns []chan struct{} // one per keeper
}

// housekeeping starts keepers for everything that happens in a repository day by day.
func (p *project) housekeeping() *keepers {
	outside := filepath.Join(p.t.TempDir(), "outside")
	return p.keepers(
		[][]string{{"update-ref", "refs/heads/other/one", "main"}, {"update-ref", "-d", "refs/heads/other/one"}},
		[][]string{{"pack-refs", "--all"}},
		[][]string{{"gc", "-q"}},
		[][]string{{"repack", "-adq"}},
		[][]string{{"worktree", "add", "-q", "--detach", outside, "main"}, {"worktree", "remove", "--force", outside}},
	)
}

// keepers starts one keeper per list of git commands. Each runs its list immediately, and again
// whenever it is notified of a write.
func (p *project) keepers(turns ...[][]string) *keepers {
	k := &keepers{}
	for _, turn := range turns {
		again := make(chan struct{}, 1)
		k.turns = append(k.turns, again)
		k.group.Go(func() {
			for more := true; more; _, more = <-again {
				for _, args := range turn {
					p.run("", "git", args...) // may lose a race; only the board matters
				}
			}
		})
	}
	return k
}

// wrote makes one keeper run again, unless it is about to.
func (k *keepers) wrote() {
	select {
	case k.turns[rand.IntN(len(k.turns))] <- struct{}{}:
	default:
	}
}

// end waits until the keepers have ended.
func (k *keepers) end() {
	for _, again := range k.turns {
		close(again)
	}
	k.group.Wait()
}
