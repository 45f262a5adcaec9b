//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestTortureClocks gives each command a clock that is right, a day fast, a day slow, or jumping
// while the command runs. Agents are not refused work on their own tasks because of that,
// everything acknowledged is on the board once, no operation is dated before its parent, and the
// history verifies.
func TestTortureClocks(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	const coders = 4
	rounds := 1
	if *testrun.Long {
		rounds = 1 << 30
	}
	l := &ledger{t: t, acks: map[string]string{}, last: time.Now()}
	random := seeded(t)
	for n := range coders {
		p.addTask(taskID(n + 1))
	}
	var group sync.WaitGroup
	for n := range coders {
		own := rand.New(rand.NewPCG(random.Uint64(), 0))
		group.Go(func() {
			for round := 0; round < rounds && timeLeft(t) && !t.Failed(); round++ {
				l.day(p, n+1, round, own)
			}
		})
	}
	group.Wait()
	l.holds(p)
	p.datedInOrder()
	p.proven()
}

// day is a coder's claim, work and release of its own task, each with another clock.
func (l *ledger) day(p *project, n, round int, random *rand.Rand) {
	id := taskID(n)
	for i, args := range [][]string{
		{"claim", id}, {"pre-exec", id, "--intent", "write it", "--validation", "it prints y", "--file", "y"}, {"heartbeat"},
		{"discover", "--during", id, "--desc", fmt.Sprintf("leak %d of %d", round, n), "--severity", "low"}, {"release", id},
	} {
		request := fmt.Sprintf("coder-%d-%d-%d", n, round, i)
		with := *p
		jump := ""
		if by := []string{"", "24h", "-24h"}[random.IntN(3)]; by != "" {
			jump = fmt.Sprintf("%s %dms", by, random.IntN(2)*random.IntN(40))
			with.env = append(slices.Clip(p.env), "LIZA_TEST_JUMP="+jump)
		}
		if args[0] != "heartbeat" {
			args = append(args, "--request", request)
		}
		since := time.Now()
		out, errs, code := with.liza(coderID(n), append(args, "--json")...)
		if code != 0 {
			l.t.Errorf("clock %q: git liza %s: exit %d\n%s", jump, strings.Join(args, " "), code, errs)
			return
		}
		var done struct{ Commit string }
		if err := json.Unmarshal([]byte(out), &done); err != nil {
			l.t.Errorf("%s: %v\n%s", args[0], err, out)
		}
		if args[0] != "heartbeat" {
			l.ack(request, done.Commit, since)
		}
	}
}

// datedInOrder checks that no operation is dated before its parent.
func (p *project) datedInOrder() {
	p.t.Helper()
	dates := strings.Fields(p.git("log", "--first-parent", "--reverse", "--format=%at", "liza/state"))
	if !slices.IsSorted(dates) { // all have ten digits, so text order is number order
		p.t.Error("an operation is dated before the one that it follows")
	}
}
