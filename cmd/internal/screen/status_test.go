package screen

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

func TestStatusAfterTheEnd(t *testing.T) {
	o := &report.Overview{Goal: "A shop", GoalStatus: board.Completed, Mode: board.Running, Now: "2026-01-31T09:00:00Z", Ahead: &report.Ahead{Integration: "integration", Into: "main", Commits: 44, CheckedOut: true}}
	for range 9 {
		o.Tasks = append(o.Tasks, report.TaskOutlook{Brief: board.Brief{ID: "pay", Title: "Take money", Status: board.Merged, StatusChangedAt: o.Now}})
	}
	page := call.Page{Width: 120, Height: 30, Signs: call.UnicodeSigns}
	lines := Status(page, o, func(string) string { return "" }, Choice{})
	if last := lines[len(lines)-1]; last != "your code: integration is 44 commits ahead of main: git merge integration" {
		t.Errorf("the last line is %q", last)
	}
	text := strings.Join(lines, "\n")
	if strings.Contains(text, "RUNNING") || strings.Count(text, "Take money") != 9 {
		t.Errorf("the end shows\n%s", text)
	}
	o.Behind = &report.Behind{Integration: "integration", Into: "main", Commits: 3}
	lines = Status(page, o, func(string) string { return "" }, Choice{})
	if last := lines[len(lines)-1]; last != "integration is 3 commits behind main: git liza land --merge main" {
		t.Errorf("the last line is %q", last)
	}
	page.Width = 80
	if text := strings.Join(Status(page, o, func(string) string { return "" }, Choice{}), "\n"); strings.Contains(text, "Take money") {
		t.Errorf("80 columns have titles:\n%s", text)
	}
}

func TestPipedOutputIsWhole(t *testing.T) {
	long := strings.Repeat("Fastlane ", 40) + "end"
	o := &report.Overview{Goal: long, GoalStatus: board.InProgress, Mode: board.Running, Now: "2026-01-31T09:00:00Z"}
	if text := strings.Join(Status(call.Page{Width: 80, Height: 30, Whole: true, Signs: call.UnicodeSigns}, o, func(string) string { return "" }, Choice{}), "\n"); !strings.Contains(text, long) {
		t.Errorf("cut:\n%s", text)
	}
}

// TestCursorReachesWhatWaits: down chooses first what waits for the human, and then the tasks.
func TestCursorReachesWhatWaits(t *testing.T) {
	o := &report.Overview{Goal: "A shop", GoalStatus: board.InProgress, Mode: board.Running, Now: "2026-01-31T09:00:00Z", Waiting: []report.Ask{{What: "note-1 from coder-1: which bank?"}}}
	o.Tasks = []report.TaskOutlook{{Brief: board.Brief{ID: "pay", Status: board.Unclaimed, StatusChangedAt: o.Now}}}
	w := &statusWatch{o: o}
	w.move(1)
	lines := Status(call.Page{Width: 80, Height: 30, Signs: call.UnicodeSigns}, o, func(string) string { return "" }, Choice{Selected: w.selected})
	if !strings.HasPrefix(lines[1], "▸ note-1") {
		t.Errorf("the cursor is not at %q", lines[1])
	}
	w.move(1)
	if w.selected != "pay" {
		t.Errorf("%q is chosen", w.selected)
	}
}

// TestMore: "and 1 more" does not take the place of the row that it stands for.
func TestMore(t *testing.T) {
	o := &report.Overview{GoalStatus: board.InProgress, Mode: board.Running, Now: "2026-01-31T09:00:00Z"}
	for _, id := range []string{"lamps", "chairs", "tables"} {
		o.Waiting = append(o.Waiting, report.Ask{What: "Sell " + id})
	}
	lines := strings.Join(Status(call.Page{Width: 80, Height: 12, Signs: call.UnicodeSigns}, o, func(string) string { return "" }, Choice{}), "\n")
	if strings.Contains(lines, "and 1 more") || !strings.Contains(lines, "Sell tables") {
		t.Errorf("an item is left out:\n%s", lines)
	}
}

// TestStatusIsNotCut: the number of stuck tasks is shown at 80 columns, and a text that ends with an
// ellipsis gets no second one.
func TestStatusIsNotCut(t *testing.T) {
	page := call.Page{Width: 80, Height: 12, Signs: call.UnicodeSigns}
	o := &report.Overview{GoalStatus: board.InProgress, Mode: board.Running, Now: "2026-01-31T09:00:00Z", InProgress: 10, Done: 14, Blocked: 10, Stuck: 11}
	o.Counts = map[board.Status]int{board.Merged: 12}
	for range 60 {
		o.Tasks = append(o.Tasks, report.TaskOutlook{Brief: board.Brief{ID: "pay", Status: board.Unclaimed, StatusChangedAt: o.Now}})
	}
	if lines := strings.Join(Status(page, o, func(string) string { return "" }, Choice{}), "\n"); !strings.Contains(lines, "12 of 58 merged, 10 in progress, 2 dropped, 10 blocked, 11 stuck\n") {
		t.Errorf("the tasks are cut:\n%s", lines)
	}
	if got := page.Cut("A long title that was cut...", 27); got != "A long title that was cut…" {
		t.Errorf("cut again: %q", got)
	}
}
