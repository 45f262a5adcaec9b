//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// yard makes a project with approved tasks t01, t02 and so on, and one more, clash. Each task has
// its own file; t01 and clash also write different text to shared.txt.
func yard(t *testing.T, cars int) *project {
	t.Helper()
	p := newProject(t)
	for i := 1; i <= cars; i++ {
		id := car(i)
		files := map[string]string{id + ".txt": id + "\n"}
		if i == 1 {
			files["shared.txt"] = "one\n"
		}
		p.approved(id, files)
	}
	p.approved("clash", map[string]string{"shared.txt": "another\n"})
	return p
}

func car(i int) string { return fmt.Sprintf("t%02d", i) }

// trip is a train of that many tasks of the yard. bad are those that fail the integration test;
// clash is the place of the task clash, 0 for nowhere.
type trip struct {
	cars  int
	bad   []int
	clash int
}

// trips returns the trains to try: every length without culprits, and with one culprit, two culprits
// or a conflict at every place.
func trips(lengths []int) (all []trip) {
	for _, n := range lengths {
		all = append(all, trip{cars: n})
		for i := 1; i <= n; i++ {
			all = append(all, trip{cars: n, bad: []int{i}}, trip{cars: n, clash: i}, trip{cars: n, clash: i + 1, bad: []int{n}})
			for j := i + 1; j <= n; j++ {
				all = append(all, trip{cars: n, bad: []int{i, j}})
			}
		}
	}
	return all
}

// TestTrains merges trains of several lengths, with culprits and conflicts at every place, by real
// processes: each culprit and each conflict is recorded as its own failure, all other tasks land,
// and one culprit costs no more than two tests plus the logarithm of the length.
// TestTrain of worktrees merges trains without processes.
func TestTrains(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	lengths := []int{1, 2, 8, 16}
	p := yard(t, slices.Max(lengths))
	saved := filepath.Join(t.TempDir(), "saved")
	if err := copyTree(p.dir, saved, func(_ string, data []byte) []byte { return data }); err != nil {
		t.Fatal(err)
	}
	for _, trip := range trips(lengths) {
		if !timeLeft(t) {
			break
		}
		if err := os.RemoveAll(p.dir); err != nil {
			t.Fatal(err)
		}
		if err := copyTree(saved, p.dir, func(_ string, data []byte) []byte { return data }); err != nil {
			t.Fatal(err)
		}
		for _, fault := range p.travel(trip) {
			t.Errorf("%+v: %s", trip, fault)
		}
	}
}

// travel merges a train and returns everything that is wrong afterwards.
func (p *project) travel(trip trip) (faults []string) {
	p.t.Helper()
	wrong := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	runs := filepath.Join(p.t.TempDir(), "runs")
	test, want := "echo x >>'"+runs+"'", map[string]string{}
	args := []string{"merge", "--json"}
	for i := 1; i <= trip.cars; i++ {
		if i == trip.clash {
			args = append(args, "clash")
		}
		args, want[car(i)] = append(args, car(i)), "MERGED"
	}
	if trip.clash > trip.cars {
		args = append(args, "clash")
	}
	for _, i := range trip.bad {
		test += fmt.Sprintf("; test ! -e %s.txt || { echo %[1]s is bad; exit 1; }", car(i))
		want[car(i)] = "INTEGRATION_FAILED"
	}
	switch first := slices.Contains(trip.bad, 1); {
	case trip.clash == 1: // and t01 comes after it
		want["clash"], want["t01"] = "MERGED", "INTEGRATION_FAILED"
	case trip.clash > 1 && first: // the task it would conflict with does not land
		want["clash"] = "MERGED"
	case trip.clash > 1:
		want["clash"] = "INTEGRATION_FAILED"
	}
	p.must("", "config", "set", "integration_test", test)
	p.must("", "config", "set", "merge_batch", "20")
	before := strings.TrimSpace(p.git("rev-parse", "integration"))
	out, errs, code := p.liza("code-reviewer-1", args...)
	failed := 0
	for id, status := range want {
		got := p.task(id)
		if got.Status != status {
			wrong("%s is %s, not %s", id, got.Status, status)
		}
		if status == "INTEGRATION_FAILED" {
			failed++
		}
	}
	if expected := map[bool]int{true: 0, false: 3}[failed == 0]; code != expected {
		wrong("exit %d, not %d\n%s%s", code, expected, out, errs)
	}
	for _, i := range trip.bad {
		if said := p.reads("show", car(i)); !(trip.clash == 1 && i == 1) && !strings.Contains(said, car(i)+" is bad") {
			wrong("%s does not say how its own test failed:\n%s", car(i), said)
		}
	}
	for id, status := range want {
		if landed := p.lies("integration:" + id + ".txt"); id != "clash" && landed != (status == "MERGED") {
			wrong("%s is %s, and on integration: %t", id, status, landed)
		}
	}
	text, _ := os.ReadFile(runs)
	tests := strings.Count(string(text), "x")
	switch most := 2 + bits.Len(uint(trip.cars-1)); {
	case trip.clash > 0:
	case len(trip.bad) == 0 && tests != 1, len(trip.bad) == 1 && tests > most, len(trip.bad) == 2 && tests > 2*most:
		wrong("%d tests", tests)
	}
	if merges := strings.Fields(p.git("rev-list", "--first-parent", before+"..integration")); len(merges) != len(want)-failed {
		wrong("%d merges on integration, and %d tasks of %d failed", len(merges), failed, len(want))
	}
	return append(faults, p.whole("afterwards", nil)...)
}

// lies reports whether git finds an object by a name.
func (p *project) lies(name string) bool {
	p.t.Helper()
	_, _, code := p.run("", "git", "cat-file", "-e", name)
	return code == 0
}

// TestTrainFlakyTest: a test that fails once and passes when repeated is recorded, and no task is
// blamed.
func TestTrainFlakyTest(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	ran := filepath.Join(t.TempDir(), "ran")
	p.set("integration_test test -e '"+ran+"' || { touch '"+ran+"'; echo the network is down; exit 1; }", "integration_test_retry 1")
	for _, id := range []string{"alpha", "beta"} {
		p.approved(id, map[string]string{id + ".txt": id + "\n"})
	}
	p.must("code-reviewer-1", "merge", "--all")
	p.stands("alpha", "MERGED")
	p.stands("beta", "MERGED")
	var board struct {
		Anomalies []struct {
			Type, Task string
			Details    map[string]any
		}
	}
	if err := json.Unmarshal([]byte(p.reads("read", "--json")), &board); err != nil {
		t.Fatal(err)
	}
	if a := board.Anomalies; len(a) != 1 || a[0].Type != "flaky_test" || a[0].Task != "" || fmt.Sprint(a[0].Details["runs"]) != "2" {
		t.Errorf("anomalies %+v", a)
	}
	p.proven()
}

// TestTrainsOfTwoClones: two clones merge all approved tasks at once while a human pushes to
// integration. Every task lands once, before or after the human's commit.
func TestTrainsOfTwoClones(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.set("integration_test sleep 0.2", "merge_batch 3")
	var ids []string
	for i := 1; i <= 6; i++ {
		ids = append(ids, car(i))
		p.approved(car(i), map[string]string{car(i) + ".txt": car(i) + "\n"})
	}
	f := newFleetOf(p, 2, plainPath)
	// The human's clone is another one: while git adds a worktree, a fetch there may fail.
	human := &project{t: t, dir: filepath.Join(t.TempDir(), "human"), env: p.env}
	p.git("clone", "-q", f.hub, human.dir)
	var all sync.WaitGroup
	for i, clone := range f.clones {
		all.Go(func() {
			for try := 0; ; try++ {
				out, errs, code := clone.liza(fmt.Sprintf("code-reviewer-%d", i+1), "merge", "--all", "--retries", "50")
				switch {
				case code == 1 && strings.Contains(errs, "no task is APPROVED"):
					return
				case code != 0 && !strings.Contains(errs, "lease") && !strings.Contains(errs, "is MERGED") || try == 200:
					t.Errorf("clone %d: exit %d\n%s%s", i+1, code, out, errs)
					return
				}
			}
		})
	}
	all.Go(func() {
		for begun := time.Now(); ; { // until the race is won
			_, errs, code := human.run("", "sh", "-c", `git fetch -q origin integration &&
git push -q --receive-pack="git -c core.hooksPath=/dev/null receive-pack" origin $(git commit-tree -p FETCH_HEAD -m "a human's" FETCH_HEAD^{tree}):refs/heads/integration`)
			if code == 0 {
				return
			}
			if time.Since(begun) > longest {
				t.Errorf("the human's push: exit %d\n%s", code, errs)
				return
			}
		}
	})
	all.Wait()
	for _, clone := range f.clones {
		clone.must("", "sync")
	}
	if p.git("log", "--grep=^a human's$", "--format=%h", "integration") == "" {
		t.Error("the human's commit is not on integration")
	}
	for _, id := range ids {
		p.stands(id, "MERGED")
		if merges := strings.Fields(p.git("log", "--first-parent", "--format=%H", "--grep=^Liza-Task: "+id+"$", "integration")); len(merges) > 1 {
			t.Errorf("%s landed %d times", id, len(merges))
		}
		if !p.lies("integration:" + id + ".txt") {
			t.Errorf("%s is not on integration", id)
		}
	}
	written := 0
	for _, op := range p.operations("") {
		if op.op == "merge" {
			written++
		}
	}
	if written != len(ids) {
		t.Errorf("%d merges are recorded", written)
	}
	f.agrees(len(ids))
}
