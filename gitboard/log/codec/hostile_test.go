package codec_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

var hostile = []string{
	"", " ", "\n", "\n\n", "\nx", "x\n", "x\n\n", "x\ny", "x\ny\n", "x\ny\n\n", "\n\nx\ny", "\t\nx", "\tx\ny", "x\n\ty", " x\ny", "x\n y", "x \ny", "x\ny ", "x\n \ny", "trailing ", " leading",
	"\r", "a\rb", "a\r\nb", "\u202eright to left\u202c", "\u200e", "\u200b", "😀", "👩\u200d💻", "x\n😀", "\u2028", "a\u2028b\nc", "\u2029", "\u0085", "a\u0085b", "\ufeff", "\ufeffx\ny", "\u00a0", "\U000e0001", "\ufffd", "\uffff", "\x7f", "\x01",
	"~", "null", "Null", "yes", "no", "on", "off", "y", "n", "true", "True", "false", "2026-01-01", "2026-01-01T00:00:00Z", "2026-01-01 00:00:00", "-", "--", "---", "...", "--- x", "? x", "?", ":", ": ", "a: b", "a:", "#", "# x", "x # y", "x #", "%", "%YAML 1.2", "@", "@x", "`x`",
	"!", "!!str x", "!x", "&", "&a x", "*", "*a", "|", "|2", ">", ">-\nx", "'", "''", "\"", "\\", "\\n", "{", "}", "[", "]", "[]", "{}", ",", "<<", "=", "- x", "-x", "- - x",
	"0", "1", "-1", "+1", "01", "0o7", "0x1f", "0b1", "1_000", "1.0", ".5", "1e3", "1E+3", ".inf", "-.Inf", ".nan", "190:20:30", "1:20", "12e03", "9223372036854775808",
	"---\nx: 1\n---\ny", "x: 1\n---\n", "...\nx", "# a\n# b", "key: |\n  text\n more", strings.Repeat("x", 200<<10), strings.Repeat("x y\n", 30<<10), strings.Repeat("é", 300),
}

func TestHostileTexts(t *testing.T) {
	for _, text := range hostile {
		if len(text) >= 1000 { // FuzzYAMLRoundTrip begins with the others
			survives(t, text)
		}
	}
	for _, text := range []string{"\xff", "a\xc3", "\xed\xa0\x80"} {
		if _, err := codec.EncodeChecked("notes/0/0/note-1.yaml", &board.Note{Message: text}); err == nil {
			t.Errorf("%q is not text, and is stored", text)
		}
	}
}

// survives proves that a text is read back exactly wherever it stands.
func survives(t *testing.T, text string) {
	t.Helper()
	short := text
	if len(short) > 2000 {
		short = short[:1998]
	}
	task := &board.Task{
		ID: "a", Description: text, DoneWhen: short, BlockedQuestions: []string{short, short}, FailedBy: []string{short},
		History: []board.Event{{Event: short, Reason: short, Files: []string{short}, Was: &board.Definition{Scope: short}, Checkpoint: &board.Checkpoint{Intent: short}}},
		Extra:   map[string]any{"k": short, "list": []any{short}},
	}
	data, err := codec.EncodeChecked("tasks/a.yaml", task)
	if err != nil {
		t.Fatalf("%.80q: %v", text, err)
	}
	back, err := codec.Decode("tasks/a.yaml", data)
	if err != nil {
		t.Fatalf("%.80q: %v", text, err)
	}
	b := back.(*board.Task)
	e := b.History[0]
	extra := b.Extra.(map[string]any)
	for _, got := range []string{b.DoneWhen, b.BlockedQuestions[1], b.FailedBy[0], e.Event, e.Reason, e.Files[0], e.Was.Scope, e.Checkpoint.Intent, extra["k"].(string), extra["list"].([]any)[0].(string)} {
		if got != short {
			t.Fatalf("%q reads back as %q:\n%s", short, got, data)
		}
	}
	if b.Description != text {
		t.Fatalf("%.80q reads back as %.80q", text, b.Description)
	}
	anomaly := &board.Anomaly{ID: "anomaly-1", Details: map[string]board.Scalar{"a": board.Scalar(short), "b": "3"}}
	if _, err := codec.EncodeChecked("anomalies/0/0/anomaly-1.yaml", anomaly); err != nil {
		t.Fatalf("%.80q as a detail: %v", text, err)
	}
}

func TestTooLarge(t *testing.T) {
	_, err := codec.EncodeChecked("notes/0/0/note-1.yaml", &board.Note{Message: strings.Repeat("x", codec.MaxDocument)})
	if err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Error(err)
	}
}

// Text that a board never writes is refused, and fast.
func TestHostileDocuments(t *testing.T) {
	const head = "id: a\nhistory: []\n"
	keys := strings.Builder{}
	for i := 0; keys.Len() < 200<<10; i++ {
		fmt.Fprintf(&keys, "  k%d: 1\n", i)
	}
	bomb := "extra:\n  a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'z'; c++ {
		bomb += fmt.Sprintf("  %c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 9), ","))
	}
	for name, text := range map[string]string{
		"alias bomb": head + bomb, "anchor": head + "extra: &x 1\n", "alias": "id: &x a\ndescription: *x\n", "tag": head + "extra: !!str 1\n", "own tag": head + "extra: !go 1\n",
		"a time in extra": head + "extra: {at: 2026-01-01}\n", "a broken number in extra": head + "extra: 1.5\n", "a long number in extra": head + "extra: 9223372036854775808\n", "a number as a key": head + "extra: {1: 2}\n",
		"binary": head + "extra: !!binary aGk=\n", "merge": head + "extra:\n  <<: {a: 1}\n", "duplicate key": "id: a\nid: b\n", "duplicate key below": head + "extra: {a: 1, a: 2}\n",
		"unknown key": head + "lease_expires: x\n", "unknown key below": "id: a\nhistory:\n- {time: 2026-01-01T00:00:00Z, evnt: x}\n", "second document": head + "---\nid: b\n", "broken second document": head + "---\n[\n",
		"something after the end": head + "...\nx\n", "huge mapping": head + "extra:\n" + keys.String(), "deep": head + "extra: " + strings.Repeat("[", 100<<10), "deep mapping": head + "extra: " + strings.Repeat("{a: ", 60<<10),
		"too large": head + "description: " + strings.Repeat("x", codec.MaxDocument), "list": "- a\n", "scalar": "a\n", "nothing": "", "null": "null\n", "bad time": "id: a\ncreated: today\n", "wrong kind": "id: a\npriority: [1]\n",
		"not UTF-8": "id: \xff\n", "NUL": "id: \x00\n", "comment only": "# x\n", "many comments": strings.Repeat("# x\n", 60<<10), "many documents": strings.Repeat("---\n", 60<<10),
	} {
		t0 := time.Now()
		_, err := codec.Decode("tasks/a.yaml", []byte(text))
		if err == nil {
			t.Errorf("%s is taken", name)
		}
		if took := time.Since(t0); took > 20*time.Second {
			t.Errorf("%s: refused after %s", name, took)
		}
	}
	for _, path := range []string{"", "tasks", "tasks/", "tasks/A.yaml", "tasks/a", "tasks/a/b.yaml", "notes/1.yaml", "notes/note-1.yaml", "notes/0/1/note-1.yaml", "agents/bob.yaml", "goal", "../goal.yaml", "handoff/.yaml", "notes/0/0/note-0.yaml"} {
		if _, err := codec.Decode(path, []byte("{}\n")); err == nil {
			t.Errorf("%q is a record", path)
		}
	}
}

// TestAFaultNamesTheValueAndWhatIsNeeded: an error about a value of the wrong type says so in plain
// words, for the human who typed it in an editor.
func TestAFaultNamesTheValueAndWhatIsNeeded(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{"tasks/x.yaml", "id: x\npriority: high\n", `tasks/x.yaml: line 2: "high" is not a whole number`},
		{"tasks/x.yaml", "id: x\npriority: 2.5\n", `tasks/x.yaml: line 2: "2.5" is not a whole number`},
		{"tasks/x.yaml", "id: x\nscope: [a, b]\n", `tasks/x.yaml: line 2: a list is not a text`},
		{"tasks/x.yaml", "id: x\nscope: {a: b}\n", `tasks/x.yaml: line 2: a mapping is not a text`},
		{"tasks/x.yaml", "id: x\ndepends_on: y\n", `tasks/x.yaml: line 2: "y" is not a list`},
		{"tasks/x.yaml", "id: x\nhandoff_pending: maybe\n", `tasks/x.yaml: line 2: "maybe" is not true or false`},
		{"tasks/x.yaml", "id: x\nrejection_reason: bad\n", `tasks/x.yaml: line 2: "bad" is not a mapping of fields`},
		{"tasks/x.yaml", "priority: a\niteration: b\n", `tasks/x.yaml: line 1: "a" is not a whole number; line 2: "b" is not a whole number`},
	} {
		if _, err := codec.Decode(c.path, []byte(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}

// asTheLibrary fails if a record's long lists are not written as the library writes them. It does
// that itself for a list that has a text which is no word.
func asTheLibrary(t *testing.T, sp board.Sprint) {
	t.Helper()
	got := testrun.Must(codec.EncodeChecked("sprint.yaml", &sp))(t)
	const none = "No word"
	slow := sp
	slow.Scope = board.SprintScope{Planned: append(slices.Clone(sp.Scope.Planned), none), Stretch: append(slices.Clone(sp.Scope.Stretch), none)}
	want := testrun.Must(codec.EncodeChecked("sprint.yaml", &slow))(t)
	if want := strings.ReplaceAll(string(want), "    - "+none+"\n", ""); string(got) != want {
		t.Fatalf("%q:\n%s\nand not\n%s", sp.Scope.Planned[0], got, want)
	}
}

// long is a list that is long enough to be written without the library.
func long(word string) []string { return slices.Repeat([]string{word}, 100) }

func TestLongLists(t *testing.T) {
	numbered := make([]string, 300)
	for i := range numbered {
		numbered[i] = fmt.Sprintf("task-%d", i)
	}
	mark := "one\n  planned: !list 1\n  stretch: !list 2\n"
	for _, sp := range []board.Sprint{
		{ID: "sprint-1", Scope: board.SprintScope{Planned: numbered, Stretch: long("b2")}},
		{ID: "sprint-1", Scope: board.SprintScope{Planned: numbered, Stretch: []string{"x-1"}}, Retrospective: mark},
		{ID: "sprint-1", Scope: board.SprintScope{Planned: numbered, Stretch: long("e1")}, Extra: map[string]any{"planned": mark, "list": "!list 1"}},
	} {
		asTheLibrary(t, sp)
	}
	// FuzzLongLists begins with others.
	for _, word := range []string{"a", "a-", "a--b", "a1", "e3", "x0", "o7", "nan", "inf", "nulls", "falsey", "none", "untrue", "false-1", strings.Repeat("a", 64), strings.Repeat("a", 65), "a_b", "a.b"} {
		asTheLibrary(t, board.Sprint{ID: "sprint-1", Scope: board.SprintScope{Planned: long(word), Stretch: []string{word}}})
	}
}

func FuzzLongLists(f *testing.F) {
	for _, word := range hostile {
		if len(word) < 100 {
			f.Add(word)
		}
	}
	f.Fuzz(func(t *testing.T, word string) {
		if _, err := codec.EncodeChecked("notes/0/0/note-1.yaml", &board.Note{Message: word}); err != nil || len(word) > 100 {
			return
		}
		asTheLibrary(t, board.Sprint{ID: "sprint-1", Scope: board.SprintScope{Planned: long(word), Stretch: long("x-1")}})
	})
}
