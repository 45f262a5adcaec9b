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
