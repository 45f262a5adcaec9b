package architecture

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

const page = "../../../ARCHITECTURE.md"

var packagesTable = regexp.MustCompile(`(?s)(<!-- generated: packages -->\n).*?(<!-- end -->)`)

// TestArchitecturePage: ARCHITECTURE.md shows what each package is for, as its comment begins.
func TestArchitecturePage(t *testing.T) {
	text := testrun.Must(os.ReadFile(page))(t)
	purposes := map[string]string{}
	for _, p := range packages(t) {
		for _, file := range p.GoFiles {
			source := testrun.Must(os.ReadFile(filepath.Join(p.Dir, file)))(t)
			comment, _, _ := strings.Cut("\n"+string(source), "\npackage ")
			if found := purpose.FindStringSubmatch(comment); found != nil {
				purposes[strings.TrimPrefix(p.ImportPath, module)] = strings.TrimSpace(strings.ReplaceAll(found[1], "\n// ", " "))
			}
		}
	}
	var product, tools strings.Builder
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		b := &product
		if develops.MatchString(name) {
			b = &tools
		}
		pure := ""
		if rooms[name].pure {
			pure = "yes"
		}
		if purposes[name] == "" {
			t.Errorf("the comment of %s does not begin with its purpose", name)
		}
		b.WriteString("| `" + name + "` | " + pure + " | " + purposes[name] + " |\n")
	}
	golden.Check(t, page, packagesTable.ReplaceAllString(string(text), "${1}"+head+product.String()+"\nThese develop git liza, and are no part of it:\n\n"+head+tools.String()+"${2}"))
}

const head = "| Package | Pure | What it does |\n|---|---|---|\n"

// develops matches the packages that develop git liza.
var develops = regexp.MustCompile(`^cmd/liza-(bench|mutate)$|^cmd/internal/demo$|^roles/rig$|^gitboard/(golden|test)`)

// purpose is the first part of a package's comment, after its name.
var purpose = regexp.MustCompile(`(?m)^// (?:Package|Command) [a-z-]+ ((?:[^.:(]|\.[a-z])+)`)

var mayImport = regexp.MustCompile(`(?m)^// It may import [^.]*\.\n`)

// TestPackageComments: each package comment says what the table says, in one sentence on its own
// lines.
func TestPackageComments(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		documented := false
		for _, file := range p.GoFiles {
			source := filepath.Join(p.Dir, file)
			text := testrun.Must(os.ReadFile(source))(t)
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
