package call

import (
	"os"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestNullIsNotATerminal: the null device is a character device but not a terminal: nothing is
// asked or coloured there.
func TestNullIsNotATerminal(t *testing.T) {
	null := testrun.Must(os.OpenFile(os.DevNull, os.O_RDWR, 0))(t)
	defer null.Close()
	if IsTerminal(null) {
		t.Error("the null device passes for a terminal")
	}
}

// TestNoTextBeginsALine: a text of the board with line breaks of any kind stays behind its name, or
// within its line, so that it can't be taken for git liza's own words.
func TestNoTextBeginsALine(t *testing.T) {
	var b strings.Builder
	c := &Call{App: &App{Stdout: &b, Getenv: func(string) string { return "" }}}
	var lines Labelled
	lines.Add("intent", "do\rnext: one\r\nnext: two\u2028next: three\u2029next: four")
	lines.AddEach("files", []string{"a.go", "b.go\ntests         c_test.go\rnext: five"})
	testrun.Check(t, c.Say(append(lines, "said by coder-1: x\rnext: six\u2028next: seven")...))
	want := "intent        do\n              next: one\n              next: two\n              next: three\n              next: four\n" +
		"files         a.go\n              b.go^Jtests         c_test.go^Mnext: five\nsaid by coder-1: x next: six next: seven\n"
	if b.String() != want {
		t.Errorf("it says\n%swant\n%s", b.String(), want)
	}
}
