package audit_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// ofTheDay returns the steps whose turn it is: one in so many each day.
func ofTheDay(t *testing.T, all []step, days int) (some []step) {
	for i, s := range all {
		if testrun.Due(t, i, days, time.Now()) {
			some = append(some, s)
		}
	}
	return some
}

// TestEveryOperation verifies a history that contains every operation: as a whole, and each
// operation alone. These take turns: in a repository one takes ten processes.
func TestEveryOperation(t *testing.T) {
	run := func(t *testing.T, w *world, days int) *audit.Report {
		w.everyOperation()
		var ops []string
		for _, s := range w.steps {
			ops = append(ops, s.op.Name())
		}
		for _, op := range board.Ops() {
			if !slices.Contains(ops, op) {
				t.Errorf("%s is not in the history", op)
			}
		}
		report := w.clean()
		// The abort was taken back; the import and its note are another board.
		if report.Commits != len(w.steps)-3 {
			t.Errorf("%d commits, %d operations", report.Commits, len(w.steps))
		}
		if attested := fmt.Sprint(report.Attested); attested != "map[found:1 lease:2 test:1 worktree:12]" {
			t.Errorf("attested: %s", attested)
		}
		if again := w.verify(audit.Range{To: w.find("abort").commit}); !again.OK() {
			t.Errorf("the abort: %v", again.Findings)
		}
		if other := w.verify(audit.Range{To: w.find("import").commit}); !other.OK() || other.Proven != 1 {
			t.Errorf("the import: %v", other.Findings)
		}
		for _, s := range ofTheDay(t, w.steps, days) {
			if s.parent.IsZero() {
				continue
			}
			if part := w.verify(audit.Range{From: s.parent, To: s.commit}); len(part.Findings) > 0 || part.Commits != 1 || part.Proven != 1 {
				t.Errorf("%s alone: %+v", s.op.Name(), part)
			}
		}
		return report
	}
	t.Run("memory", func(t *testing.T) {
		report := run(t, memoryWorld(t), 3)
		if report.Checked != 0 || report.Unchecked == 0 {
			t.Errorf("without a repository nothing can be checked: %+v", report)
		}
	})
	t.Run("git", func(t *testing.T) {
		w, _ := gitWorld(t)
		report := run(t, w, 7)
		if report.Checked == 0 || report.Unchecked != 0 || len(report.Notes) != 0 {
			t.Errorf("%+v", report)
		}
	})
}

// TestProvenOnce checks that a sound history is replayed once.
func TestProvenOnce(t *testing.T) {
	w := memoryWorld(t)
	w.begin()
	var done []int
	_, err := audit.Verify(w.ctx, w.store, nil, audit.Range{}, func(n, _ int) { done = append(done, n) })
	check(t, err)
	if !slices.Equal(done, []int{len(w.steps)}) {
		t.Errorf("it got to %v", done)
	}
}
