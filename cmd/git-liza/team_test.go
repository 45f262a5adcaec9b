//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// thePlan has as many tasks as there are misdeeds. A line names a task, its priority and its
// dependencies. Two tasks write the same line of a file.
const thePlan = `
wood 2
nails 2
price-low 1
price-high 1
chair 3 wood nails
lamp 3
set 2 chair lamp
shop 3 set price-low price-high
`

// newGoal makes a project whose goal scripted agents can reach, and their plan.
func newGoal(t *testing.T, plan string) (p *project, script string) {
	t.Helper()
	p = newProject(t)
	random := seeded(t)
	script = t.TempDir()
	p.env = append(p.env, "LIZA_SCRIPT_DIR="+script, fmt.Sprintf("LIZA_SCRIPT_SEED=%d", random.Uint64()))
	if err := os.Mkdir(filepath.Join(p.dir, "scripts"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.write("prices.txt", "prices: none\n")
	p.write("scripts/integration-test.sh", "for t in tests/test_*.sh; do test ! -e \"$t\" || sh \"$t\" || exit 1; done\n")
	p.git("checkout", "-q", "integration")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "Prices and how to test")
	p.git("checkout", "-q", "main")
	if err := os.WriteFile(filepath.Join(script, "plan"), []byte(plan), 0o644); err != nil {
		t.Fatal(err)
	}
	return p, script
}

const scriptedExec = "--exec=exec scripted-agent"

// TestTeam: a team of scripted agents reaches a goal by itself, though they crash, leave early,
// flood, fork, reject, ask, hand off and conflict.
func TestTeam(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	p, script := newGoal(t, thePlan)
	began := time.Now()
	team := p.supervise("team", "--planners=1", "--coders=3", "--reviewers=2", scriptedExec)
	team.ends(0)
	t.Logf("%d tasks, %d operations, %s", len(p.board().Tasks), len(p.operations("")), time.Since(began).Round(time.Second))
	if complaints, err := os.ReadFile(filepath.Join(script, "complaints")); err == nil {
		t.Errorf("agents complain:\n%s%s", complaints, team.story())
	}
	events := team.all()
	if last := events[len(events)-1]; last.Event != "goal" || last.Status != "COMPLETED" {
		t.Errorf("the last event is %v", last)
	}
	p.must("", "doctor")
	p.reached(script)
	happened := map[string]int{}
	for _, op := range p.operations("") {
		happened[op.op]++
	}
	for _, task := range p.board().Tasks {
		for _, e := range task.History {
			happened[e.Event]++
		}
	}
	for what, times := range map[string]int{
		"handoff": 1, "block": 1, "unblock": 1, "discover": 1, "settle-discovery": 1, "goal-complete": 1,
		"rejected": 4, "integration_failed": 1, "claimed_for_integration_fix": 1,
	} {
		if happened[what] < times {
			t.Errorf("%s has happened %d times, want %d", what, happened[what], times)
		}
	}
	if t.Failed() {
		t.Logf("%v\n%s", happened, team.story())
	}
}

// reached checks that everything the goal needs is merged and works.
func (p *project) reached(script string) {
	p.t.Helper()
	b := p.board()
	for _, g := range b.Goals {
		if g.Status != "COMPLETED" {
			p.t.Errorf("%s is %s", g.ID, g.Status)
		}
	}
	for _, task := range b.Tasks {
		if task.Status != "MERGED" {
			p.t.Errorf("%s is %s", task.ID, task.Status)
		}
	}
	p.git("worktree", "add", "-q", "--detach", filepath.Join(script, "integrated"), "integration")
	out, errs, code := p.run("", "sh", "-c", "cd '"+filepath.Join(script, "integrated")+"' && sh scripts/integration-test.sh && cat prices.txt && sh src/shop.sh")
	if code != 0 || !strings.HasPrefix(out, "prices: price-high price-low\n") || !strings.HasSuffix(out, "shop\n") {
		p.t.Errorf("integration isn't what was to be reached: exit %d\n%s%s", code, out, errs)
	}
	for _, fault := range p.whole("at the end", nil) {
		p.t.Error(fault)
	}
	for _, name := range []string{"group", "session"} {
		data, err := os.ReadFile(filepath.Join(script, "child-"+name))
		pid, _ := strconv.Atoi(string(data))
		if err != nil || pid == 0 {
			p.t.Errorf("no child was left in its %s", name)
			continue
		}
		sweeps(p.t, pid)
		if name == "group" && alive(pid) {
			p.t.Error("a child of an agent has outlived it in its process group")
		}
	}
}
