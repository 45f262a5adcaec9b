package architecture

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/golden"
)

const page = "../../../ARCHITECTURE.md"

var packagesTable = regexp.MustCompile(`(?s)(<!-- generated: packages -->\n).*?(<!-- end -->)`)

// ARCHITECTURE.md shows the table of packages as it is tested here.
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

func imports(may []string) string {
	switch {
	case len(may) == 0:
		return "nothing"
	case may[0] == "*":
		return "everything"
	}
	quoted := make([]string, len(may))
	for i, name := range slices.Sorted(slices.Values(may)) {
		quoted[i] = "`" + name + "`"
	}
	return strings.Join(quoted, ", ")
}
