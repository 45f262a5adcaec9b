package audit_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestEveryOperation verifies a history that contains every operation: as a whole, and each
// operation alone. In a repository, where one takes ten processes,
// it is one operation in n.
func TestEveryOperation(t *testing.T) {
	run := func(t *testing.T, w *world, n int) *audit.Report {
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
		for i, s := range w.steps {
			if s.parent.IsZero() || !testrun.OneIn(n, i) {
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
	testrun.Must(audit.Verify(w.ctx, w.store, nil, audit.Range{}, func(n, _ int) { done = append(done, n) }))(t)
	if !slices.Equal(done, []int{len(w.steps)}) {
		t.Errorf("it got to %v", done)
	}
}
