package board_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// FuzzIDs checks that an accepted id names one plain file, and that any other is refused wherever
// it is used.
func FuzzIDs(f *testing.F) {
	for _, id := range []string{"add-auth", "a", "-a", "..", "a/b", "A", "coder-1", "coder-01", "my-coder-1", "note-1", "note-0", "human", "", "a.yaml", "\u0131", "a\n", strings.Repeat("a", 65)} {
		f.Add(id)
	}
	s := begun(f)
	s.do(planner, add("a")).do(human, &board.AddNote{Message: "m"})
	f.Fuzz(func(t *testing.T, id string) {

		for _, dir := range []string{board.TaskDir, board.HandoffDir, board.AgentDir, board.NoteDir, board.AnomalyDir, board.DiscoveryDir, board.SpecChangeDir} {
			path := board.RecordPath(dir, id)
			if board.NewRecord(path) == nil {
				continue
			}
			if in, of, ok := board.SplitPath(path); !ok || in != dir || of != id || !board.IsDir(path[:strings.LastIndexByte(path, '/')]) {
				t.Errorf("%q is taken for %q of %q", path, of, in)
			}
			if strings.Count(path, "/") > 3 || strings.ContainsAny(path, "\\\x00\n :") || strings.Contains(path, "..") || path != strings.ToLower(path) || len(path) > 90 {
				t.Errorf("%q would be a record", path)
			}
			valid := map[string]bool{board.TaskDir: board.ValidTaskID(id), board.HandoffDir: board.ValidTaskID(id), board.AgentDir: roles.IsID(id)}
			if ok, known := valid[dir]; known && !ok {
				t.Errorf("%q is a record, and %q is not an id", path, id)
			}
		}
		state := s.state()
		if found, err := state.FindTask(id); (err == nil) != (found != nil) || found != nil && found.ID != id {
			t.Errorf("%q finds %v, %v", id, found, err)
		}
		for _, p := range []board.Payload{
			&board.Finalize{About: about(id)}, &board.Ack{IDs: []string{id}}, &board.SettleDiscovery{Discovery: id, How: "deferred", Reason: "r"},
			&board.Supersede{About: about("a"), By: []string{id}, Reason: "r"}, &board.AddNote{For: id, Message: "m"}, add("b", id), add(id),
		} {
			op := board.Operation{Actor: planner, Time: s.now, Request: "r", Payload: p}
			after, err := board.Step(state, op)
			if err != nil {
				continue
			}
			for path := range after.Changes() {
				if board.NewRecord(path) == nil {
					t.Errorf("%s of %q writes %q", p.Op(), id, path)
				}
			}
		}
		if board.ValidRequest(id) && strings.ContainsAny(id, "\n\r ") {
			t.Errorf("%q is taken for a request", id)
		}
	})
}

// FuzzWrite writes any value to any field of any record. An accepted edit changes only that field,
// the history and, with spec_ref, spec_oid. The record that results can be encoded and decoded
// again.
func FuzzWrite(f *testing.F) {
	f.Add("tasks/a.yaml", "priority", "1")
	f.Add("tasks/a.yaml", "depends_on", "[b, &x c, *x]")
	f.Add("tasks/a.yaml", "extra", "{a: {<<: {b: 1}}, ? [k] : v}")
	f.Add("tasks/a.yaml", "status", "MERGED")
	f.Add("tasks/a.yaml", "description", "!!binary aGVsbG8=")
	f.Add("tasks/../a.yaml", "scope", "x")
	f.Add("goals/goal-1.yaml", "description", "\"a\\nb\"")
	f.Add("sprint.yaml", "scope", "{planned: [a], stretch: [nowhere]}")
	f.Add("sprint.yaml", "timeline", "{started: 2026-01-31T09:00:00Z, deadline: 2026-02-31T09:00:00Z}")
	f.Add("anomalies/0/0/anomaly-1.yaml", "details", "{count: 1, b: ~}")
	f.Add("config.yaml", "extra", "a: *a")
	f.Add("board.yaml", "format", "2")
	s := begun(f)
	s.do(planner, add("a")).do(planner, add("b")).do(human, &board.LogAnomaly{Type: "spec_gap"})
	f.Fuzz(func(t *testing.T, path, field, value string) {
		p := &board.Write{Path: path, Fields: []board.FieldEdit{{Field: field, Value: value}}, Reason: "fuzz"}
		before := board.NewState(s.mem, s.last)
		after, err := board.Step(before, board.Operation{Actor: human, Time: s.now, Request: "r", Payload: p})
		if r := (*board.Refusal)(nil); errors.As(err, &r) {
			return
		}
		testrun.Check(t, err)
		if len(after.Changes()) != 1 {
			t.Fatalf("an edit of %s changes %d records", path, len(after.Changes()))
		}
		r := after.Changes()[path]
		if data, err := codec.EncodeChecked(path, r); err != nil {
			if tooLarge := (*board.Refusal)(nil); !errors.As(err, &tooLarge) {
				t.Fatal(err)
			}
		} else if back, err := codec.Decode(path, data); err != nil || !bytes.Equal(encode(back), data) {
			t.Fatalf("%v\n%s", err, data)
		}
		may := []string{field, "history"}
		if field == "spec_ref" {
			may = append(may, "spec_oid")
		}
		was, is := fieldsOf(before, path), fieldsOf(after, path)
		for name, v := range is {
			if !slices.Contains(may, name) && !reflect.DeepEqual(v, was[name]) {
				t.Errorf("an edit of %s changes %s from %v to %v", field, name, was[name], v)
			}
		}
		if slices.Contains([]string{"id", "status", "history", "assigned_to", "merge_commit", "failed_by", "session", "mode", "format"}, field) {
			t.Errorf("an edit changes %s", field)
		}
	})
}

func encode(r any) []byte {
	data, _ := codec.Encode(r)
	return data
}

// fieldsOf returns the fields of a record by their YAML names.
func fieldsOf(s *board.State, path string) map[string]any {
	r, _ := s.Record(path)
	fields := map[string]any{}
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		fields[name] = v.Field(i).Interface()
	}
	return fields
}
