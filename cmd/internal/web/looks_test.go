package web

import (
	"html"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/testrun"
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
		testrun.Equal(t, len(seen), want, "until %s: %v", until, seen)
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

// TestContrast: every colour of text is readable on every background it is used on. WCAG AA
// requires 4.5:1, and 3:1 for the borders of fields and for bars.
func TestContrast(t *testing.T) {
	data := testrun.Must(assetFiles.ReadFile("assets/style.css"))(t)
	schemes := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllSubmatch(data, -1)
	if len(schemes) != 2 {
		t.Fatalf("%d colour schemes", len(schemes))
	}
	for i, scheme := range schemes {
		colour := map[string]string{}
		for _, m := range regexp.MustCompile(`--([\w-]+): (#[0-9a-f]{6})`).FindAllSubmatch(scheme[1], -1) {
			colour[string(m[1])] = string(m[2])
		}
		check := func(least float64, ink string, grounds ...string) {
			t.Helper()
			for _, ground := range grounds {
				if got := contrast(t, colour[ink], colour[ground]); got < least {
					t.Errorf("scheme %d: %s on %s has %.2f : 1, less than %.1f", i, ink, ground, got, least)
				}
			}
		}
		for _, ink := range []string{"ink", "soft", "accent", "hot"} {
			check(4.5, ink, "bg", "raised", "faint", "hot-bg")
		}
		check(4.5, "good", "bg", "raised", "faint")
		for _, ink := range []string{"ink", "comment", "string", "keyword", "number"} {
			check(4.5, ink, "raised", "add", "del")
		}
		check(4.5, "soft", "add", "del")
		check(4.5, "ink", "add-word", "del-word")
		check(4.5, "raised", "hot")
		for _, bar := range []string{"work", "review", "merge", "blocked"} {
			check(3, bar, "bg", "faint")
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

// luminance is the relative luminance of WCAG.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	if len(colour) != 7 {
		t.Fatalf("no colour: %q", colour)
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n := testrun.Must(strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8))(t)
		c := float64(n) / 255
		if c <= 0.03928 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func TestChangedWordsAreMarked(t *testing.T) {
	for _, test := range []struct{ name, old, new, wantOld, wantNew string }{
		{"a word", `greet("Ann")`, `greet("Bob")`, `greet(<i class="s">&#34;</i><b>Ann</b><i class="s">&#34;</i>)`, `greet(<i class="s">&#34;</i><b>Bob</b><i class="s">&#34;</i>)`},
		{"an added word", "a := b", "a := b + c", "a := b", "a := b<b> + </b><b>c</b>"},
		{"no ASCII", "über größe", "über Größe", "über <b>größe</b>", "über <b>Größe</b>"},
		{"hardly anything in common", "return nil", "x := read(path)", `<i class="k">return</i> <i class="k">nil</i>`, "x := read(path)"},
		{"a product", "a\t* 1", "b\t* 1", "<b>a</b>\t* <i class=\"n\">1</i>", "<b>b</b>\t* <i class=\"n\">1</i>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := parseDiff("diff --git a/f.go b/f.go\n--- a/f.go\n+++ b/f.go\n@@ -1 +1 @@\n-"+test.old+"\n+"+test.new+"\n", nil)
			lines := files[0].Lines
			if old, new := string(lines[1].HTML), string(lines[2].HTML); old != test.wantOld || new != test.wantNew {
				t.Errorf("got\n%s\n%s\nwant\n%s\n%s", old, new, test.wantOld, test.wantNew)
			}
		})
	}
}

// TestDiffShowsWhatIsThere: a line of a diff is one line on its page, with what takes no room in it.
func TestDiffShowsWhatIsThere(t *testing.T) {
	files := parseDiff("diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1,2 @@ x\ry\n one\n+// fine\r evil()\n+is(\"a\u200bdmin\")\n", nil)
	var all []string
	for _, l := range files[0].Lines {
		all = append(all, string(l.HTML))
	}
	got := strings.Join(all, "\n")
	for _, want := range []string{"x^My\n", "// fine^M evil()", "a&lt;U+200B&gt;dmin"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
}

// TestValueIsWhole: the attribute holds no control character, and posts the text that it was given.
func TestValueIsWhole(t *testing.T) {
	const path = "a\x1b[31m\u202e\"<b>\r\n.go"
	attribute := string(value(path))
	if strings.ContainsAny(attribute, "\x1b\u202e\r\n<") {
		t.Errorf("%q", attribute)
	}
	posted := html.UnescapeString(strings.TrimSuffix(strings.TrimPrefix(attribute, `value="`), `"`))
	testrun.Equal(t, posted, path, "posted")
}
