package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// reviewed is busy in its own sprint, with a deadline and material for a retrospective.
func reviewed(t *testing.T) *boardScene {
	s := busy(t)
	s.do("human", &board.SprintEnd{}).pass(time.Minute)
	s.do("human", &board.SprintStart{Aim: "Everything that a shop needs", Planned: []string{"parse", "errors", "units"}, Stretch: []string{"history"}, Deadline: s.now.Add(26 * time.Hour)})
	for i := range 6 {
		id := fmt.Sprintf("small-%d", i+1)
		s.add(id, "A small thing", 2).pass(3*time.Minute).claim("coder-5", id).pass(time.Duration(i)*time.Minute).submit("coder-5", id).verdict("code-reviewer-1", id, "APPROVED", nil)
		s.do("code-reviewer-1", &board.Merge{About: board.About{Task: id}, ReviewCommit: workOID, Before: baseOID, MergeCommit: workOID, MergeType: board.FastForward, Drift: i})
	}
	s.do("coder-4", &board.LogAnomaly{Type: "external_blocker", Task: "fractions", Details: map[string]board.Scalar{"blocker_service": "pkg.example.com"}})
	s.do("planner-1", &board.RecordSpecChange{Spec: "specs/units.md", Change: "a pint is 568 ml", TriggeredBy: "units"})
	return s.pass(20 * time.Minute)
}

func TestGoldenSprint(t *testing.T) {
	scenes := map[string]*boardScene{"empty": newBoardScene(t, long).pass(time.Hour), "busy": reviewed(t), "ended": reviewed(t).
		do("human", &board.SprintEnd{}, &board.Retrospective{Text: board.RetrospectiveTitle + "sprint-2\n\n## Where did the time go?\n\n" + long + "\n"}).pass(30 * time.Hour)}
	crowd := newBoardScene(t, "A thousand things to do")
	for i := range 200 {
		crowd.add(fmt.Sprintf("part-%03d", i), "A part", 3)
	}
	for i := range 60 {
		crowd.pass(time.Minute).do("human", &board.Abandon{About: board.About{Task: fmt.Sprintf("part-%03d", i)}, Reason: "not needed"})
		crowd.do("human", &board.Block{About: board.About{Task: fmt.Sprintf("part-%03d", 199-i)}, Reason: board.HumanOverride})
	}
	scenes["crowd"] = crowd
	for name, s := range scenes {
		r := testrun.Must(report.ReviewSprint(s.state(), s.now.Std()))(t)
		for _, width := range []int{80, 120} {
			drawn(t, "sprint-"+name, width, screen.Sprint(paper(width), r, s.now))
			drawn(t, "metrics-"+name, width, screen.Metrics(paper(width), s.state().Sprint(), r.Metrics))
		}
	}
}

// TestMetricsAreAllDrawn: each metric of the record is drawn under its name.
func TestMetricsAreAllDrawn(t *testing.T) {
	lines := screen.Metrics(paper(80), &board.Sprint{ID: "sprint-1"}, report.Metrics{})
	if n := len(lines); n != 13 || !strings.Contains(lines[12], "drift_commits_total") {
		t.Errorf("%d lines: %q", n, lines)
	}
}
