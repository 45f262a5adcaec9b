package golden

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// Sections wants each section of a file to be what made returns for its name, which is its first
// line; all others begin with a tab. Only those that are due are made, but all of them for a new
// file.
func Sections(t *testing.T, path string, names []string, due func(i int) bool, made func(name string) string) {
	t.Helper()
	if *Update {
		var text strings.Builder
		for _, name := range names {
			text.WriteString(made(name))
		}
		Check(t, path, text.String())
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	known := sections(string(text))
	for i, name := range names {
		want, is := known[name]
		delete(known, name)
		if !is {
			t.Errorf("%s has no %s: -update adds it", path, name)
		} else if due(i) {
			if got := made(name); got != want {
				t.Errorf("%s differs (-update rewrites it; git diff shows how): got\n%sand not\n%s", path, got, want)
			}
		}
	}
	if len(known) > 0 {
		t.Errorf("%s has sections that are not made: %v", path, slices.Sorted(maps.Keys(known)))
	}
}

func sections(text string) map[string]string {
	all := map[string]string{}
	name := ""
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "\t") {
			name = strings.TrimSuffix(line, "\n")
		}
		all[name] += line
	}
	return all
}
