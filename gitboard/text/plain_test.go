package text

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

func equal(t *testing.T, name, got, want string) {
	t.Helper()
	testrun.Equal(t, got, want, "%s", name)
}

func equals(t *testing.T, name string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, not %q", name, got, want)
	}
}

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"": "", " a\n\tb\r\nc ": "a b c", "a\u2028b\u0085c": "a bc", "\u202eevil\u200b": "evil", "\x1b[31m": "[31m", "a\x00b": "ab",
		"👩\u200d💻": "👩\u200d💻", strings.Repeat("é", 20): strings.Repeat("é", 20), strings.Repeat("é", 21): strings.Repeat("é", 17) + "...",
	} {
		equal(t, in, Line(in, 20), want)
	}
	for most := 0; most < 5; most++ {
		if n := utf8.RuneCountInString(Line("abcdefgh", most)); n > max(3, most) {
			t.Errorf("at most %d: %d", most, n)
		}
	}
}

func TestVisible(t *testing.T) {
	equal(t, "visible", Visible("a\r\nb\rc\td\u202ee\u200b\x07"), "a\nb\nc\tde")
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"": "''", "a-b": "a-b", "--to=x": "--to=x", "main~1": "main~1", "~": "'~'", "two words": "'two words'", "it's": `'it'\''s'`, "$HOME": "'$HOME'"} {
		equal(t, in, Quote(in), want)
	}
}

func TestUnstyled(t *testing.T) {
	equal(t, "unstyled", Unstyled("\x1b[1;31mred\x1b[0m \x1b]0;title\x07a\x1b[2Kb\x1b[?25lc\x1bMd \x1b]8;;url\x1b\\e[1m"), "red abcd e[1m")
}

func TestNearest(t *testing.T) {
	known := []string{"add-auth", "add-oauth", "remove-auth", "docs", "add-auth-tests"}
	equals(t, "a slip", Nearest("add-auht", known, 1), []string{"add-auth"})
	equals(t, "a part", Nearest("auth", known, 2), []string{"add-auth", "add-auth-tests"})
	equals(t, "nothing like it", Nearest("zzzzzzzzzzzz", known, 3), []string{})
	equals(t, "nothing known", Nearest("a", nil, 3), []string{})
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
		if got := Similar(a, string(b)); got != want {
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

func TestShown(t *testing.T) {
	for in, want := range map[string]string{
		"\ta b": "\ta b", "a\r": "a^M", "a\r+b\x1b[31m\x7f\n": "a^M+b^[[31m^?^J", "x\u202ey\u200bz\u2028\u0085": "x<U+202E>y<U+200B>z<U+2028><U+0085>",
		"👩\u200d💻 é": "👩\u200d💻 é", "a\x9b1m": "a\ufffd1m",
	} {
		equal(t, in, Shown(in), want)
	}
}

// TestLineOfALongText: the line of a long text is the one that the whole text has, and takes no
// more memory than the line does: what agents print may be of any length.
func TestLineOfALongText(t *testing.T) {
	text := " a\u202e b\t\u200b\n" + strings.Repeat("é x\xff ", 1<<14)
	whole := func(text string, most int) string {
		text = strings.Join(strings.Fields(strings.Map(visible, text)), " ")
		if utf8.RuneCountInString(text) <= most {
			return text
		}
		return strings.TrimSpace(string([]rune(text)[:max(0, most-3)])) + "..."
	}
	for most := 3; most < 20; most++ {
		for _, end := range []int{0, 1, 3, 9, 12, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 40, len(text)} {
			equal(t, text[:min(end, 40)], Line(text[:end], most), whole(text[:end], most))
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	Line(text, 200)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<10 {
		t.Errorf("a line of 200 characters takes %d bytes", used)
	}
}

func TestPlace(t *testing.T) {
	for text, want := range map[string]struct {
		file string
		line int
		ok   bool
	}{
		"api/login.go:17": {"api/login.go", 17, true}, "a:b:3": {"a:b", 3, true},
		":3": {}, "x": {}, "": {}, "x:": {"x", 0, false}, "x:y": {"x", 0, false},
	} {
		file, line, ok := ParsePlace(text)
		if file != want.file || line != want.line || ok != want.ok {
			t.Errorf("%q is %q, %d, %v", text, file, line, ok)
		}
		if ok && Place(file, line) != text {
			t.Errorf("%q is written as %q", text, Place(file, line))
		}
	}
}

func TestSection(t *testing.T) {
	const spec = "# Sums\n\n## Plus, minus\n\n```\n# no heading\n```\n### Signs\n\n## Rest\n"
	for _, c := range []struct {
		anchor     string
		first, end int
		found      bool
	}{{"plus-minus", 3, 10, true}, {"signs", 8, 10, true}, {"rest", 10, 11, true}, {"sums", 1, 11, true}, {"no-heading", 0, 11, false}, {"", 0, 11, false}} {
		if first, end, found := Section(spec, c.anchor); first != c.first || end != c.end || found != c.found {
			t.Errorf("%q: %d to %d, %v", c.anchor, first, end, found)
		}
	}
}
