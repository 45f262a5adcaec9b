package web

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

// TestSideBySide: the columns of side by side share the whole width, whatever the first row is.
func TestSideBySide(t *testing.T) {
	file := parseDiff("diff --git a/f.go b/f.go\n--- a/f.go\n+++ b/f.go\n@@ -1 +1 @@\n-a\n+b\n", nil)[0]
	got := string(markup("file-split", fileView{diffFile: file}))
	if !strings.Contains(got, `<table class="code split"><colgroup><col class="n"><col><col class="n"><col></colgroup>`) {
		t.Errorf("the columns have no widths:\n%s", got)
	}
}

// TestTicks: the axis of the timeline repeats no label.
func TestTicks(t *testing.T) {
	for until, want := range map[board.Time]int{"2026-01-31T09:00:02Z": 3, "2026-01-31T09:05:00Z": 6, "2026-01-31T12:00:00Z": 6} {
		seen := map[string]bool{}
		for _, tick := range ticks("2026-01-31T09:00:00Z", until) {
			if seen[tick.Text] {
				t.Errorf("until %s: %s twice", until, tick.Text)
			}
			seen[tick.Text] = true
		}
		if len(seen) != want {
			t.Errorf("until %s: %v", until, seen)
		}
	}
}

// TestBoxes: what stands in a box of the graph is no wider than the box.
func TestBoxes(t *testing.T) {
	n := report.Node{Brief: board.Brief{ID: "correct-typing-errors-in-all-queries", Title: "Correct typing errors in the queries of customers", Status: board.Claimed}}
	got := string(markup("graph", map[string]any{"Boxes": []box{{Node: n, Worker: "code-reviewer-12"}}, "Critical": []string(nil), "Narrow": "", "Over": ""}))
	lines := regexp.MustCompile(`<text[^>]*>([^<]*)</text>`).FindAllStringSubmatch(got, -1)
	if len(lines) != 2 || !strings.Contains(lines[1][1], "code-reviewer-12") {
		t.Errorf("the box has %q", lines)
	}
	for i, most := range []int{boxWidth / 7, boxWidth * 10 / 57} { // the breadth of 12 and 11 pixels high
		if shown := html.UnescapeString(lines[i][1]); len([]rune(shown)) > most {
			t.Errorf("%q has %d characters", shown, len([]rune(shown)))
		}
	}
}
