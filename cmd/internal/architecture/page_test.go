package architecture

import (
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
	var product, tools strings.Builder
	for _, p := range packages(t) {
		name, of := p.name(), ""
		if found := purpose.FindStringSubmatch(p.comment(t)); found != nil {
			of = strings.TrimSpace(strings.ReplaceAll(found[1], "\n// ", " "))
		}
		b := &product
		if develops.MatchString(name) {
			b = &tools
		}
		is := ""
		if slices.Contains(pure, name) {
			is = "yes"
		}
		if of == "" {
			t.Errorf("the comment of %s does not begin with its purpose", name)
		}
		b.WriteString("| `" + name + "` | " + is + " | " + of + " |\n")
	}
	golden.Check(t, page, packagesTable.ReplaceAllString(string(text), "${1}"+head+product.String()+"\nThese develop git liza, and are no part of it:\n\n"+head+tools.String()+"${2}"))
}

const head = "| Package | Pure | What it does |\n|---|---|---|\n"

// develops matches the packages that develop git liza.
var develops = regexp.MustCompile(`^cmd/liza-(bench|mutate)$|^cmd/internal/demo$|^roles/rig$|^gitboard/(golden|test)`)

// purpose is the first part of a package's comment, after its name.
var purpose = regexp.MustCompile(`(?m)^// (?:Package|Command) [a-z-]+ ((?:[^.:(]|\.[a-z])+)`)

// everything is what a package may import that may import all of our packages.
const everything = "everything of ours"

var mayImport = regexp.MustCompile(`(?m)^// It may import ([^.]*)\.\n`)

// source is the file of a package that has its comment, the comment, and the code after it.
func (p pkg) source(t *testing.T) (file, comment, code string) {
	t.Helper()
	for _, name := range p.GoFiles {
		file = filepath.Join(p.Dir, name)
		comment, code, _ = strings.Cut("\n"+string(testrun.Must(os.ReadFile(file))(t)), "\npackage ")
		if strings.Contains(comment, "\n// Package ") || strings.Contains(comment, "\n// Command ") {
			return file, comment + "\n", code
		}
	}
	t.Fatalf("%s has no package comment", p.name())
	return "", "", ""
}

func (p pkg) comment(t *testing.T) string {
	t.Helper()
	_, comment, _ := p.source(t)
	return comment
}

// may lists what a package may import, as its comment says.
func (p pkg) may(t *testing.T) []string {
	t.Helper()
	found := mayImport.FindAllStringSubmatch(p.comment(t), -1)
	if len(found) != 1 {
		t.Fatalf("the comment of %s has %d sentences on its imports, not one", p.name(), len(found))
	}
	text := strings.ReplaceAll(found[0][1], "\n// ", " ")
	if text == "nothing of ours" {
		return nil
	}
	return strings.Split(strings.Replace(text, " and ", ", ", 1), ", ")
}

// TestPackageComments: each package comment says what the package may import in one sentence on its
// own lines, in order.
func TestPackageComments(t *testing.T) {
	for _, p := range packages(t) {
		file, comment, code := p.source(t)
		comment = mayImport.ReplaceAllLiteralString(comment, sentence(p.may(t)))
		golden.Check(t, file, strings.TrimPrefix(comment+"package "+code, "\n"))
	}
}

// sentence is how a comment says what a package may import.
func sentence(may []string) string {
	what := "nothing of ours"
	if n := len(may); n > 0 {
		sorted := slices.Sorted(slices.Values(may))
		what = strings.TrimPrefix(strings.Join(sorted[:n-1], ", ")+" and "+sorted[n-1], " and ")
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
