package board_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"": "", " a\n\tb\r\nc ": "a b c", "a\u2028b\u0085c": "a bc", "\u202eevil\u200b": "evil", "\x1b[31m": "[31m", "a\x00b": "ab",
		"👩\u200d💻": "👩\u200d💻", strings.Repeat("é", 20): strings.Repeat("é", 20), strings.Repeat("é", 21): strings.Repeat("é", 17) + "...",
	} {
		equal(t, in, board.Line(in, 20), want)
	}
	for most := 0; most < 5; most++ {
		if n := utf8.RuneCountInString(board.Line("abcdefgh", most)); n > max(3, most) {
			t.Errorf("at most %d: %d", most, n)
		}
	}
}

func TestVisible(t *testing.T) {
	equal(t, "visible", board.Visible("a\r\nb\rc\td\u202ee\u200b\x07"), "a\nb\nc\tde")
}

func TestUnstyled(t *testing.T) {
	equal(t, "unstyled", board.Unstyled("\x1b[1;31mred\x1b[0m \x1b]0;title\x07a\x1b[2Kb\x1b[?25lc\x1bMd \x1b]8;;url\x1b\\e[1m"), "red abcd e[1m")
}

func TestNearest(t *testing.T) {
	known := []string{"add-auth", "add-oauth", "remove-auth", "docs", "add-auth-tests"}
	equals(t, "a slip", board.Nearest("add-auht", known, 1), []string{"add-auth"})
	equals(t, "a part", board.Nearest("auth", known, 2), []string{"add-auth", "add-auth-tests"})
	equals(t, "nothing like it", board.Nearest("zzzzzzzzzzzz", known, 3), []string{})
	equals(t, "nothing known", board.Nearest("a", nil, 3), []string{})
}

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

// Similar gives up early, and still answers as the whole matrix does.
func TestSimilarIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteRune([]rune("abc\u00e4\u02e4")[rng.IntN(5)]) // two of them share their lower byte
		}
		return b.String()
	}
	similar := 0
	for range 20000 {
		a := text(rng.IntN(14))
		b := []rune(a)
		for range rng.IntN(6) { // some steps away
			at := rng.IntN(len(b) + 1)
			switch {
			case rng.IntN(2) == 0 || at == len(b):
				b = slices.Insert(b, at, []rune(text(1))...)
			default:
				b = slices.Delete(b, at, at+1)
			}
		}
		want := 10*levenshtein([]rune(a), b) <= 3*max(utf8.RuneCountInString(a), len(b))
		if want {
			similar++
		}
		if got := board.Similar(a, string(b)); got != want {
			t.Fatalf("%q ~ %q: %v", a, string(b), got)
		}
	}
	if similar < 2000 || similar > 18000 {
		t.Errorf("%d of 20000 are similar: the pairs are ill chosen", similar)
	}
}

// levenshtein is the distance by its definition, cell for cell.
func levenshtein(x, y []rune) int {
	cell := make([][]int, len(x)+1)
	for i := range cell {
		cell[i] = make([]int, len(y)+1)
		for j := range cell[i] {
			switch {
			case i == 0 || j == 0:
				cell[i][j] = i + j
			case x[i-1] == y[j-1]:
				cell[i][j] = cell[i-1][j-1]
			default:
				cell[i][j] = 1 + min(cell[i-1][j-1], cell[i-1][j], cell[i][j-1])
			}
		}
	}
	return cell[len(x)][len(y)]
}
