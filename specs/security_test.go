package specs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

var (
	testName = regexp.MustCompile("`?(Test[A-Z][A-Za-z0-9]*)(?:/([^`|]+)`)?")
	caseName = regexp.MustCompile(`(Test[A-Z][A-Za-z0-9]*) "([^"]+?)(?:, \.\.\.)?"`)
	script   = regexp.MustCompile(`script ([a-z0-9-]+)`)
)

// TestSecurityNamesTests checks that each row of an attack in security.md names tests, cases and
// scripts, and that all of them exist, also those that are named elsewhere on the page.
func TestSecurityNamesTests(t *testing.T) {
	text := testrun.Must(os.ReadFile("security.md"))(t)
	tests, scripts := written(t)
	has := func(row, test, name string) {
		body, there := tests[test]
		if !there {
			t.Errorf("there is no test %s:\n%s", test, row)
		} else if name != "" && !strings.Contains(body, `"`+name) {
			t.Errorf("%s has no case %q:\n%s", test, name, row)
		}
	}
	page := testrun.Must(os.ReadFile("../ARCHITECTURE.md"))(t)
	for _, m := range testName.FindAllStringSubmatch(string(page), -1) {
		has("ARCHITECTURE.md", m[1], "")
	}
	rows := 0
	for row := range strings.Lines(string(text)) {
		for _, m := range testName.FindAllStringSubmatch(row, -1) {
			has(row, m[1], m[2])
		}
		for _, m := range caseName.FindAllStringSubmatch(row, -1) {
			has(row, m[1], m[2])
		}
		for _, m := range script.FindAllStringSubmatch(row, -1) {
			if !scripts[m[1]] {
				t.Errorf("there is no script %s:\n%s", m[1], row)
			}
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), " | ")
		if !strings.HasPrefix(row, "| ") || strings.HasPrefix(row, "| Attack") || strings.HasPrefix(row, "| Layer") || strings.HasPrefix(row, "| SLSA") || isLayer(cells[0]) {
			continue
		}
		rows++
		if last := cells[len(cells)-1]; len(cells) != 3 || !testName.MatchString(last) && !script.MatchString(last) {
			t.Errorf("a row names no test:\n%s", row)
		}
	}
	if rows < 60 {
		t.Errorf("%d rows: the tables are read wrongly", rows)
	}
}

// isLayer reports whether a row is of the table of layers, which the others prove.
func isLayer(cell string) bool {
	for _, layer := range []string{"commands (", "hooks in ", "hooks on ", "signatures,", "`git liza verify`"} {
		if strings.Contains(cell, layer) {
			return true
		}
	}
	return false
}

// written returns the files in which tests of each name are, and the names of the scripts.
func written(t *testing.T) (tests map[string]string, scripts map[string]bool) {
	t.Helper()
	tests, scripts = map[string]string{}, map[string]bool{}
	function := regexp.MustCompile(`(?m)^func (Test[A-Z][A-Za-z0-9]*)\(`)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != "..":
			return fs.SkipDir
		case strings.HasSuffix(path, ".txtar"), strings.HasSuffix(path, ".txt"):
			scripts[strings.TrimSuffix(d.Name(), filepath.Ext(path))] = true
		case strings.HasSuffix(path, "_test.go"):
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range function.FindAllStringSubmatch(string(data), -1) {
				tests[m[1]] += string(data)
			}
		}
		return nil
	})
	testrun.Check(t, err)
	return tests, scripts
}
