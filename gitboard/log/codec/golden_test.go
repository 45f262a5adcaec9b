package codec_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// filled sets every field of a record to something, each different.
func filled(v reflect.Value, name string, n *int) {
	*n++
	switch v.Interface().(type) {
	case board.Time:
		v.SetString(string(board.Time("2026-01-31T09:00:00Z").Add(time.Duration(*n) * time.Minute)))
		return
	case roles.Role:
		v.SetString("coder")
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), name, n)
	case reflect.Struct:
		for i := range v.NumField() {
			field, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
			filled(v.Field(i), field, n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		filled(v.Index(0), name, n)
		filled(v.Index(1), name, n)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, kv := range [][2]string{{"count", "3"}, {"debt_created", "true"}, {"error_pattern", "no: such file"}, {"version", "007"}} {
			v.SetMapIndex(reflect.ValueOf(kv[0]), reflect.ValueOf(board.Scalar(kv[1])))
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"mine": []any{"kept", 7, true, nil}}))
	case reflect.Int:
		v.SetInt(int64(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		texts := []string{"the " + name, "the " + name + ":\n  two lines\n", "yes", "- " + name + " # no comment", "12"}
		v.SetString(texts[*n%len(texts)])
	}
}

// The bytes of one record of each kind with every field set.
func TestGoldenRecords(t *testing.T) {
	for _, path := range []string{
		"board.yaml", "goals/goal-1.yaml", "sprint.yaml", "config.yaml", "control.yaml", "breaker.yaml", "team.yaml", "tasks/add-auth.yaml", "agents/coder-1.yaml",
		"discovered/0/0/disc-1.yaml", "handoff/add-auth.yaml", "notes/0/0/note-1.yaml", "anomalies/0/0/anomaly-1.yaml", "spec-changes/0/0/change-1.yaml",
		"keys/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.yaml",
	} {
		r, n := board.NewRecord(path), 0
		filled(reflect.ValueOf(r).Elem(), "record", &n)
		data, err := codec.EncodeChecked(path, r)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		golden.Check(t, filepath.Join("testdata", strings.ReplaceAll(path, "/", "_")), string(data))
		empty, err := codec.EncodeChecked(path, board.NewRecord(path))
		if err != nil {
			t.Errorf("%s, empty: %v", path, err)
		}
		golden.Check(t, filepath.Join("testdata", "empty_"+strings.ReplaceAll(path, "/", "_")), string(empty))
	}
}

// TestText: the text that is put together from tasks' files is the document's, byte by byte.
func TestText(t *testing.T) {
	m := board.NewMemory()
	s := board.NewState(m, "2026-02-03T08:00:00Z")
	leases := map[string]board.Lease{"coder-1": {Expires: "2026-02-03T09:00:00Z"}, "code-reviewer-1": {Expires: "2026-02-03T10:00:00Z"}}
	compare := func(texts map[string][]byte) {
		t.Helper()
		d := testrun.Must(codec.Document(s, leases))(t)
		want := testrun.Must(codec.Render(d))(t)
		got := testrun.Must(codec.Text(s, leases, texts))(t)
		testrun.Equal(t, got, want, "got")
	}
	put := func(path string, record any) { s.Changes()[path] = record }
	put(board.GoalPath("goal-1"), &board.Goal{ID: "goal-1", Description: "several\n\nlines\n  of it"})
	put(board.SprintPath, &board.Sprint{ID: "sprint-1"})
	put(board.ConfigPath, board.DefaultConfig())
	put(board.ControlPath, &board.Control{Mode: board.Running})
	put(board.BreakerPath, &board.Breaker{Status: board.BreakerOK})
	compare(nil)
	texts := map[string][]byte{}
	for _, task := range []*board.Task{
		{ID: "plain", Priority: 3, Description: "one line"},
		{ID: "lines", Priority: 1, Description: "one\n\n  two\n\n\nthree", DoneWhen: "a\nb\n", Scope: "\n\nx", DependsOn: []string{"plain"}},
		{ID: "odd", Priority: 2, Description: "\t# - : | > \u2028", Rejection: &board.Rejection{Blockers: []board.Finding{{Where: "a.go:1", Issue: "it"}}, Overall: "no\n\nreally"}, FailedBy: []string{"coder-1"}},
		{ID: "claimed", Priority: 2, Status: board.Claimed, AssignedTo: "coder-1", Description: "with a lease"},
		{ID: "review", Priority: 2, Status: board.ReadyForReview, AssignedTo: "coder-1", ReviewingBy: "code-reviewer-1", Description: "with another"},
		{ID: "unknown", Priority: 2, Description: "its text is not known"},
	} {
		task.History = []board.Event{{Time: "2026-02-03T08:00:00Z", Event: board.EventCreated, Agent: "human", Reason: "because\n\nof this"}}
		put(board.RecordPath(board.TaskDir, task.ID), task)
		data := testrun.Must(codec.EncodeChecked(board.RecordPath(board.TaskDir, task.ID), task))(t)
		if task.ID != "unknown" {
			texts[task.ID] = data
		}
	}
	compare(texts)
}
