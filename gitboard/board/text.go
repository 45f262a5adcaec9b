package board

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-liza/git-liza/gitboard/text"
)

// MaxText is the maximum size in bytes of one text in an operation. A whole record may have 256
// KiB.
const MaxText = 32 << 10

// maxTexts is the maximum size in bytes of all texts of an operation together.
const maxTexts = 256 << 10

// MaxPhrase is the maximum number of characters of each of a hand-off's two required phrases.
const MaxPhrase = 500

// checkText refuses texts that no record may contain: text that is not UTF-8, has NUL or other
// invisible control characters, is too long, or looks like a credential. What was pushed can't be
// taken back.
func checkText(_ *State, op Operation) error {
	var err error
	total, longest := 0, MaxText
	most := maxTexts
	if _, imports := op.Payload.(*Import); imports {
		most = MaxImport
	}
	if works(op) {
		most, longest = 2*MaxWords, MaxWords
	}
	eachText(reflect.ValueOf(op.Payload), "", func(field, text string) {
		total += len(text)
		if err == nil && field != "yaml" { // a record; its own Check checks its texts
			err = textFault(field, text, longest, op.AllowSecret)
		}
	})
	if err == nil && total > most {
		return invalid("the operation's texts have %d bytes; %d are allowed", total, most).Advise("put the long texts into files of the project and name them here")
	}
	return err
}

// Storable reports whether a record may hold an unchecked text, like a program's output: it holds
// no control character, and does not look like a credential.
func Storable(text string) bool { return textFault("the text", text, MaxText, false) == nil }

func textFault(field, text string, longest int, allowSecret bool) error {
	switch {
	case !utf8.ValidString(text):
		return invalid("%s is not UTF-8 text", field)
	case len(text) > longest && field != "value":
		return invalid("%s has %d bytes; %d are allowed", field, len(text), longest).Advise("put the long text into a file of the project and name it here")
	case strings.ContainsFunc(text, forbidden):
		return invalid("%s holds a control character that no text needs", field)
	case !allowSecret:
		if what := credential(text); what != "" {
			return refuse(CodeSecret, "%s looks like it holds %s, and the board's history can't be erased", field, what).
				Advise("take it out; if it is a false alarm, say %s", ActOn("").With("allow_secret", ""))
		}
	}
	return nil
}

// forbidden reports whether r is a control character other than tab, newline and carriage return.
func forbidden(r rune) bool {
	return r == 0xFEFF || unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r'
}

// eachText visits every string in a payload with its JSON name.
func eachText(v reflect.Value, field string, visit func(field, text string)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			eachText(v.Elem(), field, visit)
		}
	case reflect.Struct:
		for i, f := range jsonFields.of(v.Type()) {
			eachText(v.Field(i), cmp.Or(f.Name, field), visit)
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

// credentials are patterns of text that must not be stored. Each match contains one of the
// pattern's marks, which are faster to look for.
var credentials = []struct {
	what  string
	marks []string
	form  *form
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

// credential names the kind of credential that a text seems to contain, "" for none.
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

// phrase refuses a text that isn't one short phrase.
func phrase(field, text string) error {
	if err := required(field, text); err != nil {
		return err
	}
	if n := utf8.RuneCountInString(text); n > MaxPhrase || strings.Contains(text, "\n") {
		return invalid("%s must be one phrase of at most %d characters; it has %d", field, MaxPhrase, n)
	}
	return nil
}

// together is one refusal for all of several faults, nil for none.
func together(faults ...error) error {
	var lines []string
	for _, err := range faults {
		if err != nil {
			lines = append(lines, err.Error())
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return invalid("%s", strings.Join(lines, "; "))
}

// vague matches phrases that can't be proven wrong.
var vague = formOf(`(?i)\b(works? (correctly|properly|fine|well|as expected)|properly|appropriate(ly)?|as (needed|appropriate|expected)|correctly handled?|handled? (correctly|gracefully))\b`)

var onlyTests = formOf(`(?i)^\s*(add|write|create|extend|improve)\s+(more |some |the |missing |unit |integration )*tests?\b`)

// hollow matches plans that hold for any task.
var hollow = formOf(`(?i)^\W*((do|implement|finish|complete|fix|work on|address) (it|this|everything|(the|my|this) (task|work|feature|change|feedback))|((run|check|execute) )?(the |all |unit )*(tests?|build|it|everything)( pass(es)?| works?| succeeds?| (is |are )?(ok|green|fine))?|todo|tbd|n/?a|none|as (described|specified|planned)|see (the )?(task|spec))\W*$`)

// Warnings returns warnings about a checkpoint that the work can't be compared with.
func (c Checkpoint) Warnings() []string {
	var w []string
	for _, part := range [][2]string{{"intent", c.Intent}, {"validation", c.Validation}} {
		if hollow.MatchString(part[1]) || vague.MatchString(part[1]) {
			w = append(w, fmt.Sprintf("%s says %q, which fits any work: name a command, its output, or what can be observed", part[0], text.Line(part[1], 80)))
		}
	}
	return w
}

// Warnings returns warnings about a definition that is allowed but likely to cause trouble.
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

func quote(s string) string { return fmt.Sprintf("%q", text.Line(s, 80)) }

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

// didYouMean suggests the nearest known words, or else another text.
func didYouMean(word string, known []string, otherwise string) string {
	near := text.Nearest(word, known, 3)
	if len(near) == 0 {
		return otherwise
	}
	return "nearest: " + strings.Join(near, ", ")
}

// meant adds the nearest known words as a hint, or else an act that lists them.
func (r *Refusal) meant(word string, known []string, lister Act) *Refusal {
	if near := didYouMean(word, known, ""); near != "" {
		return r.Advise("%s", near)
	}
	return r.Way(lister)
}

func (s *State) unknownTask(id string) *Refusal {
	r := refuse(CodeUnknownTask, "no task is called %s", quote(id))
	r.Unknown = id
	return r.meant(id, s.List(TaskDir), ActOn("status"))
}
