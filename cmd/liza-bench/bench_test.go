package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestMachinery runs groups of --quick at a tiny size: the first two, and with -long all. It looks at no time.
func TestMachinery(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the program")
	}
	quick := groups[:slices.IndexFunc(groups, func(g group) bool { return g.full })]
	names := []string{quick[0].name}
	for i, other := range quick[1:] {
		if testrun.OneIn(len(quick)-1, i) {
			names = append(names, other.name)
		}
	}
	only, least := "^("+strings.Join(names, "|")+")$", 7
	if len(names) == len(quick) {
		least = 12
	}
	t.Logf("--only %s", only)
	dir := t.TempDir()
	out, samples, table := filepath.Join(dir, "rows.json"), filepath.Join(dir, "samples.txt"), filepath.Join(dir, "table.md")
	err := run(context.Background(), []string{"--tiny", "--only", only, "--dir", dir, "--source", "../..", "--json", out, "--benchstat", samples, "--markdown", table})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Rows []Row }
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) < least {
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
