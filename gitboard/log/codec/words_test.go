package codec_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
