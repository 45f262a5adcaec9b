package board

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// MaxText is how many bytes one text in an operation may have. A record has 256 KiB in all.
const MaxText = 32 << 10

// MaxTexts is how many bytes all texts of an operation may have together.
const MaxTexts = 256 << 10

// MaxPhrase is how many characters each of a hand-off's two required phrases may have.
const MaxPhrase = 120

// checkText refuses what no record may hold: text that is not UTF-8, holds NUL or other invisible control
// characters, is too long, or looks like a credential. What is pushed can't be unsaid.
func checkText(_ *State, op Operation) error {
	var err error
	total := 0
	eachText(reflect.ValueOf(op.Payload), "", func(field, text string) {
		total += len(text)
		if err == nil && field != "yaml" { // a record, whose texts its own Check looks at
			err = textFault(field, text, op.AllowSecret)
		}
	})
	most := MaxTexts
	if _, imports := op.Payload.(*Import); imports {
		most = MaxImport
	}
	if err == nil && total > most {
		return invalid("the operation's texts have %d bytes; %d are allowed", total, most).hint("put the long texts into files of the project and name them here")
	}
	return err
}

func textFault(field, text string, allowSecret bool) error {
	switch {
	case !utf8.ValidString(text):
		return invalid("%s is not UTF-8 text", field)
	case len(text) > MaxText && field != "value":
		return invalid("%s has %d bytes; %d are allowed", field, len(text), MaxText).hint("put the long text into a file of the project and name it here")
	case strings.ContainsFunc(text, forbidden):
		return invalid("%s holds a control character that no text needs", field)
	case !allowSecret:
		if what := credential(text); what != "" {
			return refuse(CodeSecret, "%s looks like it holds %s, and what is written here can't be unsaid", field, what).
				hint("take it out; if it is a false alarm, say --allow-secret")
		}
	}
	return nil
}

// forbidden: control characters but tab, newline and carriage return.
func forbidden(r rune) bool {
	return r == 0xFEFF || unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r'
}

// eachText visits every string in a payload under its JSON name.
func eachText(v reflect.Value, field string, visit func(field, text string)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			eachText(v.Elem(), field, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if name == "" {
				name = field
			}
			eachText(v.Field(i), name, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachText(v.Index(i), field, visit)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			eachText(k, field, visit)
			eachText(v.MapIndex(k), field, visit)
		}
	case reflect.String:
		visit(field, v.String())
	}
}

// credentials are the texts that must not be stored; each has one of its marks in it, which is quicker to see.
var credentials = []struct {
	what  string
	marks []string
	form  form
}{
	{"a private key", []string{"PRIVATE KEY"}, formOf(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)},
	{"an AWS access key", []string{"AKIA", "ASIA"}, formOf(`\b(AKIA|ASIA)[0-9A-Z]{16}\b`)},
	{"a GitHub token", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, formOf(`\b(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})`)},
	{"a GitLab token", []string{"glpat-"}, formOf(`\bglpat-[A-Za-z0-9_-]{20,}`)},
	{"a Slack token", []string{"xox"}, formOf(`\bxox[abprs]-[A-Za-z0-9-]{10,}`)},
	{"an API key", []string{"sk-"}, formOf(`\bsk-(ant-|proj-)?[A-Za-z0-9_-]{32,}`)},
	{"a Google API key", []string{"AIza"}, formOf(`\bAIza[0-9A-Za-z_-]{35}`)},
	{"a password in an address", []string{"://"}, formOf(`://[^\s/:@]*:[^\s/@$<{*][^\s/@]*@`)},
	{"a JSON web token", []string{"eyJ"}, formOf(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`)},
}

// credential names what a text seems to give away, "" when nothing.
func credential(text string) string {
	for _, c := range credentials {
		marked := func(mark string) bool { return strings.Contains(text, mark) }
		if slices.ContainsFunc(c.marks, marked) && c.form.MatchString(text) {
			return c.what
		}
	}
	return ""
}

// required refuses an empty text.
func required(field, text string) error {
	if strings.TrimSpace(text) == "" {
		return invalid("%s is missing", field)
	}
	return nil
}

// phrase refuses what isn't one short phrase.
func phrase(field, text string) error {
	if err := required(field, text); err != nil {
		return err
	}
	if n := utf8.RuneCountInString(text); n > MaxPhrase || strings.Contains(text, "\n") {
		return invalid("%s must be one phrase of at most %d characters; it has %d", field, MaxPhrase, n)
	}
	return nil
}

// vague finds phrases that nothing could prove wrong.
var vague = formOf(`(?i)\b(works? (correctly|properly|fine|well|as expected)|properly|appropriate(ly)?|as (needed|appropriate|expected)|correctly handled?|handled? (correctly|gracefully))\b`)

var onlyTests = formOf(`(?i)^\s*(add|write|create|extend|improve)\s+(more |some |the |missing |unit |integration )*tests?\b`)

// Warnings says what of a definition will make trouble, without forbidding it.
func Warnings(d Definition) []string {
	var w []string
	if m := vague.FindString(d.DoneWhen); m != "" {
		w = append(w, fmt.Sprintf("done_when says %q: nothing could prove that wrong; name what can be observed", m))
	}
	if d.Kind == Code && onlyTests.MatchString(d.Description) {
		w = append(w, "the task seems to add tests alone: tests belong to the task whose code they test")
	}
	return w
}

// Line makes one safe line of a text: what would break a line, hide or reorder characters becomes a
// space or goes; at most so many characters (3 or more).
func Line(text string, most int) string { return clip(text, most) }

func clip(text string, most int) string {
	text = strings.Join(strings.Fields(strings.Map(visible, text)), " ")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	cut := []rune(text)[:max(0, most-3)]
	return strings.TrimSpace(string(cut)) + "..."
}

// Cell makes a text safe for one cell of a Markdown table: one line, and nothing that Markdown would read.
func Cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "'").Replace(Line(text, 300))
}

var styles = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\x1b(?:\\[[0-9:;<=>?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\^_])")
})

// Unstyled drops the sequences by which a program colours what it prints and moves about on a terminal.
func Unstyled(text string) string {
	if !strings.ContainsRune(text, 0x1b) {
		return text
	}
	return styles().ReplaceAllString(text, "")
}

// hides reports whether a character moves a terminal's cursor or reorders what it shows. No name needs one.
func hides(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// PlainName reports whether the name or the address of a person shows as it is.
func PlainName(name string) bool { return utf8.ValidString(name) && !strings.ContainsFunc(name, hides) }

// Visible drops the characters of a text that hide or reorder others; lines stay.
func Visible(text string) string { return strings.Map(visible, strings.ReplaceAll(text, "\r\n", "\n")) }

func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r == '\r':
		return '\n'
	case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), unicode.Is(unicode.Cf, r) && r != 0x200D:
		return -1
	}
	return r
}

func quote(s string) string { return fmt.Sprintf("%q", clip(s, 80)) }

// list joins words with commas and a last "or".
func list[T ~string](words []T) string { return join(words, " or ") }

// all joins words with commas and a last "and".
func all[T ~string](words []T) string { return join(words, " and ") }

func join[T ~string](words []T, last string) string {
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = string(w)
	}
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + last + parts[n-1]
	}
	return strings.Join(parts, "")
}

// didYouMean suggests the nearest of known words, or else a command that lists them.
func didYouMean(word string, known []string, lister string) string {
	near := Nearest(word, known, 3)
	if len(near) == 0 {
		return lister
	}
	return "nearest: " + strings.Join(near, ", ")
}

// Nearest returns up to n of the known words that are like a word, the nearest first.
func Nearest(word string, known []string, n int) []string {
	type scored struct {
		word string
		d    int
	}
	var near []scored
	for _, k := range known {
		d := distance(word, k)
		if min(len(k), len(word)) > 2 && (strings.Contains(k, word) || strings.Contains(word, k)) {
			d = min(d, 2)
		}
		if d <= min(max(2, len(k)/2), len(k)) && d < max(len(k), len(word)) {
			near = append(near, scored{k, d})
		}
	}
	slices.SortFunc(near, func(a, b scored) int {
		if a.d != b.d {
			return a.d - b.d
		}
		return strings.Compare(a.word, b.word)
	})
	var words []string
	for _, s := range near[:min(n, len(near))] {
		words = append(words, s.word)
	}
	return words
}

// distance is the Levenshtein distance in characters.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(y)]
}

// mostCompared is how many characters of a text are held against another: the time that takes grows with their
// square, and two whole logs of 30 000 characters would take a second.
const mostCompared = 1000

// Similar is the protocol's "similar": a Levenshtein similarity of at least 0.7 after folding case, digits and
// white space. Of long texts the first thousand characters count, and their lengths.
func Similar(a, b string) bool { return alike([]rune(fold(a)), []rune(fold(b))) }

// alike is Similar of folded texts.
func alike(x, y []rune) bool {
	if most := 3 * max(len(x), len(y)) / 10; most < len(x)-len(y) || most < len(y)-len(x) {
		return false
	}
	x, y = x[:min(len(x), mostCompared)], y[:min(len(y), mostCompared)]
	most := 3 * max(len(x), len(y)) / 10
	return most >= leastDistance(x, y) && within(x, y, most)
}

// leastDistance is a lower bound of the Levenshtein distance, by the characters that one text has more of.
func leastDistance(x, y []rune) int {
	var more [256]int // characters that share a place only lower the bound
	for _, r := range x {
		more[r&255]++
	}
	for _, r := range y {
		more[r&255]--
	}
	ofX, ofY := 0, 0
	for _, n := range more {
		ofX += max(0, n)
		ofY += max(0, -n)
	}
	return max(ofX, ofY)
}

// within reports whether the Levenshtein distance is no more than most. It looks near the diagonal alone, and
// ends as soon as it can't be.
func within(x, y []rune, most int) bool {
	if most < len(x)-len(y) || most < len(y)-len(x) {
		return false
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = min(j, most+1)
	}
	for i := 1; i <= len(x); i++ {
		from, to := max(1, i-most), min(len(y), i+most)
		diagonal := row[from-1]
		row[from-1] = most + 1
		if from == 1 {
			row[0] = i
		}
		least := row[from-1]
		for j := from; j <= to; j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
			least = min(least, row[j])
		}
		if least > most {
			return false
		}
	}
	return row[len(y)] <= most
}

func fold(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return unicode.ToLower(r)
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

func (s *State) unknownTask(id string) *Refusal {
	return refuse(CodeUnknownTask, "no task is called %s", quote(id)).hint("%s", didYouMean(id, s.List(TaskDir), "git liza status"))
}
