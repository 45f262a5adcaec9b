package screen

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/tty"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

func TestInput(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []tty.Key
		want string
	}{
		{"at the end", []tty.Key{'c'}, "abc"},
		{"in the middle", []tty.Key{tty.Left, 'ä', tty.Home, 'x', tty.End, 'y'}, "xaäby"},
		{"erased", []tty.Key{tty.Backspace, tty.Home, tty.Backspace, tty.Delete, tty.Delete, 'z'}, "z"},
		{"a word", []tty.Key{' ', 'x', 'y', ' ', tty.EraseWord}, "ab"},
		{"all of it", []tty.Key{tty.Left, tty.EraseLine}, "b"},
	} {
		i := newInput("text:", "ab")
		for _, k := range c.keys {
			i.press(k, false)
		}
		testrun.Equal(t, i.String(), c.want, "%s", c.name)
	}
	i := newInput("a question\ntext:", strings.Repeat("0123456789", 9))
	lines := i.lines(call.Page{Width: 21})
	if len(lines) != 1+maxTyped || !strings.HasSuffix(lines[maxTyped], "_") {
		t.Errorf("the end of a long text is not shown: %q", lines)
	}
}

func TestPlacesInAPatch(t *testing.T) {
	v := newPatchView(&gitboard.Patch{Task: "t", Number: 1, Text: "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -3,3 +3,3 @@ func\n one\n-two\n+++ b/x\n+three\n" +
		"diff --git a/gone.go b/gone.go\n--- a/gone.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"})
	want := map[string]string{" one": "a.go:3", "-two": "a.go:4", "+++ b/x": "a.go:4", "+three": "a.go:5", "-x": "gone.go:1"}
	for i, l := range v.lines {
		if place, known := want[l]; known && v.at[i] != place {
			t.Errorf("%q is at %q, want %q", l, v.at[i], place)
		}
	}
	rows := v.draw(call.Page{Width: 12, Height: 4})
	if len(rows) < 4 || !strings.Contains(strings.Join(rows, ""), "t, submiss") {
		t.Errorf("the first rows are %q", rows)
	}
}

// TestNoLineOfAPatchIsForged: a carriage return in a file does not begin a line of the patch, which
// would read like one of the code around it, and what takes no room is shown.
func TestNoLineOfAPatchIsForged(t *testing.T) {
	text := "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1,2 @@\n one\n+// fine\r evil()\r-old()\r\n+if is(\"a\u200bdmin\") {\n"
	for _, ranged := range []bool{false, true} {
		lines := Patch(call.Page{}, &gitboard.Patch{Task: "t", Number: 1, Text: text, RangeDiff: ranged})
		all := strings.Join(lines[1:], "\n") + "\n"
		if want := strings.NewReplacer("\r", "^M", "\u200b", "<U+200B>").Replace(text); all != want {
			t.Errorf("range-diff %v: %q, want %q", ranged, all, want)
		}
	}
}

func TestStatusAfterTheEnd(t *testing.T) {
	o := &report.Overview{Goal: "A shop", GoalStatus: board.Completed, Mode: board.Running, Now: "2026-01-31T09:00:00Z", Ahead: &report.Ahead{Integration: "integration", Into: "main", Commits: 44, CheckedOut: true}}
	for range 9 {
		o.Tasks = append(o.Tasks, report.TaskOutlook{Brief: board.Brief{ID: "pay", Title: "Take money", Status: board.Merged, StatusChangedAt: o.Now}})
	}
	page := call.Page{Width: 120, Height: 30, Signs: call.UnicodeSigns}
	lines := Status(page, o, func(string) string { return "" }, Choice{})
	testrun.Equal(t, lines[len(lines)-1], "your code: integration is 44 commits ahead of main: git merge integration", "the last line is")
	text := strings.Join(lines, "\n")
	if strings.Contains(text, "RUNNING") || strings.Count(text, "Take money") != 9 {
		t.Errorf("the end shows\n%s", text)
	}
	o.Behind = &report.Behind{Integration: "integration", Into: "main", Commits: 3}
	lines = Status(page, o, func(string) string { return "" }, Choice{})
	testrun.Equal(t, lines[len(lines)-1], "integration is 3 commits behind main: git liza land --merge main", "the last line is")
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
	testrun.Equal(t, page.Cut("A long title that was cut...", 27), "A long title that was cut…", "cut again")
}
