package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// FuzzWritePath: any path and value given to `write` names one record and a field of it, or is
// refused.
func FuzzWritePath(f *testing.F) {
	f.Add("tasks.add-auth.priority", "1")
	f.Add("tasks.add-auth.depends_on.0", "b")
	f.Add("tasks.add-auth.extra.a.b.c", "{x: [1, 2]}")
	f.Add("tasks.add-auth.extra", "&a [*a]")
	f.Add("sprint.timeline.deadline", "2026-02-31T09:00:00Z")
	f.Add("tasks...priority", "~")
	f.Add("tasks.../../goal.priority", "1")
	f.Add("goal.extra.<<", "*x")
	f.Add(".goal.", "")
	f.Add("human_notes.note-1.message", "--- a\n--- b")
	f.Add("notes/note-1.message", "a")
	f.Add("notes/0/0/note-1.yaml.extra.b", "a")
	f.Add("tasks/../goals/goal-1.yaml.description", "a")
	b := gitboard.OpenStore(testrepo.NewMemory(), "", gitboard.Options{})
	ada := board.HumanActor("Ada", "ada@example.org")
	do := func(p board.Payload) error {
		_, err := b.Do(context.Background(), gitboard.Request{Actor: ada}, gitboard.Just(p))
		return err
	}
	for _, p := range []board.Payload{
		&board.Init{Goal: "g", IntegrationBranch: "integration"}, &board.AddNote{Message: "m"},
		&board.AddTask{About: board.About{Task: "add-auth"}, Definition: board.Definition{Description: "d", Kind: board.Code, Priority: 3}},
	} {
		if err := do(p); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, path, value string) {
		v := testrun.Must(b.View(context.Background()))(t)
		record, keys, err := records.At(records.DocumentPath(path))
		var field board.FieldEdit
		if err == nil {
			field, err = newField(v, record, keys, value)
		}
		refused := (*board.Refusal)(nil)
		switch {
		case errors.As(err, &refused):
			if strings.ContainsAny(refused.Message, "\x00\x1b") {
				t.Errorf("the refusal repeats what a terminal obeys: %q", refused.Message)
			}
			return
		case err != nil:
			t.Fatal(err)
		case field.Field != keys[0]:
			t.Errorf("%q edits %q", path, field.Field)
		}
		if board.NewRecord(record) == nil {
			return // Check refuses it
		}
		op := gitboard.Request{Actor: ada}
		err = v.Plan(context.Background(), op, &board.Write{Path: record, Fields: []board.FieldEdit{field}})
		if err != nil && !errors.As(err, &refused) {
			t.Fatal(err)
		}
	})
}
