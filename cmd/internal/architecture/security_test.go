package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityTable: each row of the tables of attacks names an existing test, and an existing case
// where it names one.
func TestSecurityTable(t *testing.T) {
	const root = "../../.."
	text, err := os.ReadFile(filepath.Join(root, "specs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	var tests, scripts strings.Builder
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && strings.HasPrefix(e.Name(), ".") && path != root {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		switch {
		case strings.HasSuffix(path, "_test.go"):
			data, err := os.ReadFile(path)
			tests.Write(data)
			return err
		case strings.HasSuffix(path, ".txtar"):
			scripts.WriteString(" " + e.Name())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile("(Test[A-Z][A-Za-z]*)(?:/([^`|]+)`| \"([^\".]+))?")
	rows := 0
	for _, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, "| ") || !strings.Contains(line, "Test") && !strings.Contains(line, " script ") || strings.HasSuffix(line, "| Test |") {
			continue
		}
		rows++
		for _, found := range name.FindAllStringSubmatch(line, -1) {
			if !strings.Contains(tests.String(), "func "+found[1]+"(t *testing.T)") {
				t.Errorf("there is no test %s\n%s", found[1], line)
			}
			if c := found[2] + found[3]; c != "" && !strings.Contains(tests.String(), `"`+strings.TrimRight(c, ", ")) {
				t.Errorf("%s has no case %q\n%s", found[1], c, line)
			}
		}
		if _, script, is := strings.Cut(line, " script "); is {
			if script = strings.Trim(script, " |,"); !strings.Contains(scripts.String(), " "+script+".txtar") {
				t.Errorf("there is no script %s\n%s", script, line)
			}
		}
	}
	if rows < 60 {
		t.Errorf("%d rows: the tables are read wrongly", rows)
	}
}
