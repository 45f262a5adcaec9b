package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestMachinery runs the groups of --quick at a tiny size. It looks at no time. Building and running
// the program costs as much as all tests of most packages: it runs with -long only.
func TestMachinery(t *testing.T) {
	testrun.LongOnly(t)
	dir := t.TempDir()
	out, samples, table := filepath.Join(dir, "rows.json"), filepath.Join(dir, "samples.txt"), filepath.Join(dir, "table.md")
	err := run(context.Background(), []string{"--tiny", "--quick", "--dir", dir, "--source", "../..", "--json", out, "--benchstat", samples, "--markdown", table})
	testrun.Check(t, err)
	data := testrun.Must(os.ReadFile(out))(t)
	var got struct{ Rows []Row }
	testrun.Check(t, json.Unmarshal(data, &got))
	if len(got.Rows) < 12 {
		t.Errorf("%d rows", len(got.Rows))
	}
	for _, r := range got.Rows {
		if r.Name == "" || r.N == 0 || r.MedianMS == 0 || r.FloorMS == 0 || r.Ratio == 0 || r.Floor == "" { // a difference may be below 0
			t.Errorf("%+v", r)
		}
	}
	for file, want := range map[string]string{samples: "\nBenchmarkLiza/note,_10_tasks 1 ", table: "| note, 10 tasks / F |"} {
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s (%v)", filepath.Base(file), want, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "liza-bench-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
