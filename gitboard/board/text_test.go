package board_test

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

func TestWarnings(t *testing.T) {
	count := func(kind board.Kind, desc, done string) int {
		return len(board.Warnings(board.Definition{Kind: kind, Description: desc, DoneWhen: done}))
	}
	for _, done := range []string{"Login works correctly", "errors handled properly", "logs as appropriate"} {
		equal(t, done, count(board.Code, "Add login", done), 1)
	}
	equal(t, "falsifiable", count(board.Code, "Add login", "POST /login answers 200"), 0)
	equal(t, "tests alone", count(board.Code, "Add unit tests for login", "10 cases"), 1)
	equal(t, "a doc on tests", count(board.Doc, "Write tests guide", "page exists"), 0)
	equal(t, "testimonials", count(board.Code, "Add testimonials page", "page exists"), 0)
}

func TestTime(t *testing.T) {
	for _, good := range []string{"2026-01-31T09:00:00Z", "0001-01-01T00:00:00Z"} {
		if _, err := board.ParseTime(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "2026-01-31", "2026-01-31T09:00:00+00:00", "2026-01-31T09:00:00.5Z", "2026-02-30T09:00:00Z", "2026-01-31t09:00:00z", " 2026-01-31T09:00:00Z"} {
		if _, err := board.ParseTime(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestMetrics(t *testing.T) {
	s := begun(t).in(board.Merged, "a").in(board.Rejected, "b").in(board.Abandoned, "c").in(board.Blocked, "d").in(board.IntegrationFailed, "e").in(board.Draft, "f")
	m := report.Measure(s.state())
	equal(t, "metrics", m, report.Metrics{
		TasksDone: 2, TasksInProgress: 1, TasksBlocked: 2, Iterations: 4, ReviewCycles: 1, Approvals: 2, Rejections: 1, Verdicts: 3,
		ApprovalRate: 66, Submissions: 3, OutcomeRate: 66, Drift: 4,
	})
	for _, c := range []struct {
		yes, all int
		want     bool
	}{{5, 5, true}, {4, 4, false}, {19, 20, false}, {20, 21, true}, {38, 40, false}, {96, 100, true}, {95, 100, false}, {0, 0, false}} {
		equal(t, "rubber stamping", report.Metrics{Approvals: c.yes, Verdicts: c.all}.RubberStamping(), c.want)
	}
}

func TestTitle(t *testing.T) {
	for description, want := range map[string]string{
		"Add POST /login":                     "Add POST /login",
		"\nGreet by name. Say it aloud.":      "Greet by name",
		"Greet.":                              "Greet",
		"Read e.g. a CSV file\nwith a header": "Read e.g. a CSV file",
		strings.Repeat("word ", 20):           strings.TrimSpace(strings.Repeat("word ", 11)) + " wo...",
	} {
		task := &board.Task{Description: description}
		equal(t, "heading", task.Heading(), want)
		equal(t, "in the brief", task.Brief().Title, want)
	}
	s := begun(t)
	add := add("login")
	add.Title = strings.Repeat("x", board.MaxTitle+1)
	s.refused("invalid", planner, add, "title must be one line of at most 60 characters; it has 61")
	add.Title = "Log in"
	s.do(planner, add)
	equal(t, "own title", s.task("login").Heading(), "Log in")
	s.do(planner, &board.AmendTask{About: about("login"), Definition: board.Definition{Title: "Sign in"}, Set: []string{"title"}})
	equals(t, "amended", []any{s.task("login").Title, s.task("login").Last("amended").Was.Title}, []any{"Sign in", "Log in"})
}
