package breaker_test

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report/breaker"
)

func TestReportOfSeveralPatterns(t *testing.T) {
	s := board.NewState(board.NewMemory(), "2026-01-31T09:00:00Z")
	put := func(path string, r any) { s.Changes()[path] = r }
	put(board.GoalPath("goal-1"), &board.Goal{Description: "Import\ncustomers"})
	put(board.SprintPath, &board.Sprint{ID: "sprint-1", Timeline: board.Timeline{Started: "2026-01-31T08:00:00Z"}})
	put(board.BreakerPath, &board.Breaker{Status: board.BreakerOK})
	put("tasks/import-csv.yaml", &board.Task{ID: "import-csv", SpecRef: "specs/import.md#csv"})
	for id, a := range map[string]*board.Anomaly{
		"anomaly-1": {Type: "spec_gap", Task: "import-csv", Details: map[string]board.Scalar{"spec_ref": "specs/import.md#dates"}},
		"anomaly-2": {Type: "spec_ambiguity", Details: map[string]board.Scalar{"spec_ref": "specs/import.md#dates", "note": "`rm` <b>|</b>\nor not"}},
		"anomaly-3": {Type: "assumption_violated", Details: map[string]board.Scalar{"assumption": "Dates have zones"}},
		"anomaly-4": {Type: "assumption_violated", Details: map[string]board.Scalar{"assumption": "dates have  zones"}},
	} {
		a.ID, a.Reporter, a.Timestamp = id, "coder-1", "2026-01-31T08:30:00Z"
		put(board.RecordPath(board.AnomalyDir, id), a)
	}
	found := board.FindPatterns(s)
	text, err := breaker.Report(s, found, "2026-01-31T09:00:00Z")
	if err != nil || len(found) != 2 {
		t.Fatal(found, err)
	}
	for _, line := range []string{
		"# Circuit breaker: assumption_cascade", "- Also found: spec_gap_cluster (SPEC_FLAW)", "- Goal: Import customers",
		"| anomaly-2 | 2026-01-31T08:30:00Z |  | coder-1 | spec_ambiguity | note: 'rm' &lt;b>\\|&lt;/b> or not; spec_ref: specs/import.md#dates |",
		"Common factor: Dates have zones", "Common factor: specs/import.md#dates", "- specs/import.md#csv\n- specs/import.md#dates\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("the report has no line %q:\n%s", line, text)
		}
	}
	if n := strings.Count(text, "Which tasks were planned on the other reading?"); n != 1 {
		t.Errorf("a question of both patterns is asked %d times", n)
	}
}
