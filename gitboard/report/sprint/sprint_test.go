package sprint_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/report/sprint"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

const began = board.Time("2026-01-31T09:00:00Z")

var now = time.Date(2026, 1, 31, 15, 0, 0, 0, time.UTC)

// empty returns a board on which nothing has happened.
func empty() *board.State {
	s := board.NewState(board.NewMemory(), began)
	put := func(path string, r any) { s.Changes()[path] = r }
	put(board.GoalPath("goal-1"), &board.Goal{ID: "goal-1", Description: "A calculator", Status: board.InProgress})
	put(board.SprintPath, &board.Sprint{ID: "sprint-2", Status: board.InProgress, Timeline: board.Timeline{Started: began}})
	put(board.ControlPath, &board.Control{Mode: board.Running, Since: began, By: "human"})
	put(board.BreakerPath, &board.Breaker{Status: board.BreakerOK})
	put(board.ConfigPath, board.DefaultConfig())
	return s
}

// busy returns a board in its second sprint.
func busy() *board.State {
	s := empty()
	put := func(path string, r any) { s.Changes()[path] = r }
	at := func(minutes int) board.Time { return began.Add(time.Duration(minutes) * time.Minute) }
	put(board.GoalPath("goal-1"), &board.Goal{ID: "goal-1", Description: "A calculator | that\nadds", Status: board.InProgress, AlignmentHistory: []board.Alignment{
		{Timestamp: at(-60), Event: "initial plan", Summary: "of the sprint before"},
		{Timestamp: at(0), Event: "sprint started", Summary: "sprint-2: Read what people type"},
		{Timestamp: at(90), Event: "checkpoint released", Summary: "ADJUST: units can wait"},
	}})
	put(board.SprintPath, &board.Sprint{ID: "sprint-2", Status: board.AtCheckpoint,
		Scope:    board.SprintScope{Planned: []string{"lex", "parse", "units"}, Stretch: []string{"colours"}},
		Timeline: board.Timeline{Started: began, Deadline: "2026-01-31T14:00:00Z", CheckpointAt: at(300)}})
	put(board.ControlPath, &board.Control{Mode: board.CheckpointMode, Since: at(300), By: "system", Reason: "sprint deadline 2026-01-31T14:00:00Z passed"})
	task := func(t *board.Task, history ...board.Event) {
		t.History = history
		t.Created = history[0].Time
		t.StatusChangedAt = history[len(history)-1].Time
		put(board.RecordPath(board.TaskDir, t.ID), t)
	}
	ev := func(minute int, name string) board.Event {
		return board.Event{Time: at(minute), Event: name, Agent: "coder-1"}
	}
	merged := func(minute, drift int) board.Event {
		e := ev(minute, board.EventMerged)
		e.Drift = drift
		return e
	}
	task(&board.Task{ID: "before", Status: board.Merged, DriftCommits: 9}, ev(-90, board.EventCreated), ev(-80, board.EventClaimed), ev(-70, board.EventReady), ev(-60, board.EventApproved), merged(-50, 9))
	task(&board.Task{ID: "lex", Status: board.Merged, DriftCommits: 2, ReviewCyclesTotal: 2}, ev(-40, board.EventCreated), ev(-30, board.EventClaimed), ev(-20, board.EventReady), ev(-10, board.EventRejected),
		ev(5, board.EventReclaimed), ev(10, board.EventReady), ev(20, board.EventRejected), ev(30, board.EventReclaimed), ev(40, board.EventReady), ev(50, board.EventApproved), merged(60, 2))
	for i := range 5 {
		id := fmt.Sprintf("small-%d", i+1)
		task(&board.Task{ID: id, Status: board.Merged}, ev(60+i, board.EventCreated), ev(70+i, board.EventClaimed), ev(80+i, board.EventReady), ev(90+i, board.EventApproved), merged(100+i, 0))
	}
	task(&board.Task{ID: "old-way", Status: board.Abandoned}, ev(1, board.EventCreated), ev(70, board.EventAbandoned))
	task(&board.Task{ID: "parse", Status: board.Claimed, AssignedTo: "coder-1"}, ev(2, board.EventCreated), ev(200, board.EventClaimed))
	task(&board.Task{ID: "units", Status: board.Blocked, BlockedReason: "the spec does not say\nwhich pint", BlockedQuestions: []string{"473 or 568 ml?", "Which <b>unit</b> | else?"}, FailedBy: []string{"coder-1"}},
		ev(3, board.EventCreated), ev(100, board.EventClaimed), ev(120, board.EventBlocked))
	task(&board.Task{ID: "colours", Status: board.Draft}, ev(4, board.EventCreated))
	for i, a := range []board.Anomaly{
		{Timestamp: at(-5), Type: "workaround"},
		{Timestamp: at(20), Type: "spec_gap", Details: map[string]board.Scalar{"spec_ref": "specs/units.md"}, AcknowledgedBy: "planner-1"},
		{Timestamp: at(30), Type: "spec_ambiguity", Details: map[string]board.Scalar{"spec_ref": "specs/units.md"}},
		{Timestamp: at(40), Type: "spec_gap", Details: map[string]board.Scalar{"spec_ref": "specs/other.md"}},
	} {
		a.ID, a.Reporter = fmt.Sprintf("anomaly-%d", i+1), "coder-1"
		put(board.RecordPath(board.AnomalyDir, a.ID), &a)
	}
	for i, c := range []board.SpecChange{
		{Timestamp: at(-9), Spec: "specs/vision.md", Change: "before the sprint"},
		{Timestamp: at(50), Spec: "specs/units.md", Change: "litres | only", TriggeredBy: "units"},
		{Timestamp: at(60 * 20), Spec: "specs/vision.md#goal", Change: "it explains itself,\nstep by step"},
		{Timestamp: at(60*20 + 1), Spec: "specs/units.md", Change: "pints are 568 ml"},
	} {
		c.ID = fmt.Sprintf("change-%d", i+1)
		put(board.RecordPath(board.SpecChangeDir, c.ID), &c)
	}
	return s
}

func TestGolden(t *testing.T) {
	for name, s := range map[string]*board.State{"empty": empty(), "busy": busy()} {
		for what, render := range map[string]func() (string, error){
			"summary":       func() (string, error) { return sprint.Summary(s, now) },
			"retrospective": func() (string, error) { return sprint.Retrospective(s, now) },
			"changelog":     func() (string, error) { return sprint.Changelog(s) },
		} {
			text := testrun.Must(render())(t)
			golden.Check(t, filepath.Join("testdata", what+"-"+name+".txt"), text)
		}
	}
}

// TestDecisionsAreExplained checks that the summary explains each decision that can be recorded.
func TestDecisionsAreExplained(t *testing.T) {
	text := testrun.Must(sprint.Summary(empty(), now))(t)
	for _, d := range board.Decisions {
		_, meaning, _ := strings.Cut(text, "- [ ] "+d+": ")
		if line, _, _ := strings.Cut(meaning, "\n"); line == "" {
			t.Errorf("the summary does not say what %s means", d)
		}
	}
}

// TestTemplateIsTakenOnceItIsAnswered checks that the template is refused as long as any section
// has no answer, and accepted once all have one.
func TestTemplateIsTakenOnceItIsAnswered(t *testing.T) {
	s := busy()
	text := testrun.Must(sprint.Retrospective(s, now))(t)
	sections := strings.Count(text, "\n## ")
	for answered := range sections {
		err := (&board.Retrospective{Text: strings.Replace(text, board.Unanswered, "Well.", answered)}).Check(s, board.Operation{})
		title := strings.Split(strings.Split(text, "\n## ")[answered+1], "\n")[0]
		if err == nil || !strings.Contains(err.Error(), title) {
			t.Errorf("with %d answers: %v, not a word of %q", answered, err, title)
		}
	}
	full := strings.ReplaceAll(text, board.Unanswered, "Well.")
	testrun.ErrorIs(t, (&board.Retrospective{Text: full}).Check(s, board.Operation{}), nil, "it ends")
	if err := (&board.Retrospective{Text: strings.ReplaceAll(full, "sprint-2", "sprint-1")}).Check(s, board.Operation{}); err == nil {
		t.Error("the retrospective of another sprint is taken")
	}
}
