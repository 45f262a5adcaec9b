package architecture

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/golden"
)

const page = "../../../ARCHITECTURE.md"

var packagesTable = regexp.MustCompile(`(?s)(<!-- generated: packages -->\n).*?(<!-- end -->)`)

// TestArchitecturePage: ARCHITECTURE.md shows the table of packages that is tested here.
func TestArchitecturePage(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| Package | Pure | May import of ours |\n|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		pure := ""
		if rooms[name].pure {
			pure = "yes"
		}
		b.WriteString("| `" + name + "` | " + pure + " | " + imports(rooms[name].may) + " |\n")
	}
	golden.Check(t, page, packagesTable.ReplaceAllString(string(text), "${1}"+b.String()+"${2}"))
}

var mayImport = regexp.MustCompile(`(?m)^// It may import [^.]*\.\n`)

// TestPackageComments: each package comment says what the table says, in one sentence on its own
// lines.
func TestPackageComments(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		documented := false
		for _, file := range p.GoFiles {
			source := filepath.Join(p.Dir, file)
			text, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			comment, code, _ := strings.Cut("\n"+string(text), "\npackage ")
			if !strings.Contains(comment, "\n// Package ") && !strings.Contains(comment, "\n// Command ") {
				continue
			}
			documented = true
			if n := len(mayImport.FindAllString(comment+"\n", -1)); n != 1 {
				t.Errorf("the comment of %s has %d sentences on its imports, not one", name, n)
				continue
			}
			comment = mayImport.ReplaceAllLiteralString(comment+"\n", sentence(rooms[name].may))
			golden.Check(t, source, strings.TrimPrefix(comment+"package "+code, "\n"))
		}
		if !documented {
			t.Errorf("%s has no package comment", name)
		}
	}
}

// sentence is how a comment says what a package may import.
func sentence(may []string) string {
	what := "nothing of ours"
	switch n := len(may); {
	case n > 0 && may[0] == "*":
		what = "everything of ours"
	case n > 0:
		sorted := slices.Sorted(slices.Values(may))
		what = strings.Join(sorted[:n-1], ", ") + " and " + sorted[n-1]
		what = strings.TrimPrefix(what, " and ")
	}
	text, width := "//", 2
	for _, word := range strings.Fields("It may import " + what + ".") {
		if width+1+len(word) > 100 {
			text, width = text+"\n//", 2
		}
		text, width = text+" "+word, width+1+len(word)
	}
	return text + "\n"
}

func imports(may []string) string {
	switch {
	case len(may) == 0:
		return "nothing"
	case may[0] == "*":
		return "everything"
	}
	var groups []string
	for _, name := range slices.Sorted(slices.Values(may)) {
		room, last := path.Split(name)
		if n := len(groups) - 1; n >= 0 && room != "" && strings.HasPrefix(groups[n], room) {
			groups[n] += ", " + last
		} else {
			groups = append(groups, name)
		}
	}
	return strings.Join(groups, "; ")
}
