package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/cmd/internal/dispatch"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// inSentence are the words that follow the program's name where a text tells of the program.
var inSentence = strings.Fields("alone are asks can does drops for has help into is knows manual mean moves needs pushes to works")

// TestCommandsInMessages: every command in a hint, or in another text in the code, exists with the
// flags shown.
func TestCommandsInMessages(t *testing.T) {
	const top = "../../.."
	listed := testrun.Must(exec.Command("git", "-C", top, "ls-files", "*.go").Output())(t)
	seen, flags := 0, 0
	for _, name := range strings.Fields(string(listed)) {
		if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			continue
		}
		file := testrun.Must(parser.ParseFile(token.NewFileSet(), filepath.Join(top, name), nil, 0))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			literal, is := n.(*ast.BasicLit)
			if !is || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for _, m := range inPrompt.FindAllStringSubmatch(text, -1) {
				words := strings.Fields(m[1])
				cmd := dispatch.Find(words)
				if cmd == nil {
					if !slices.Contains(inSentence, words[0]) {
						t.Errorf("%s names `git liza %s`, which is not a command", name, m[1])
					}
					continue
				}
				seen++
				line, _, _ := strings.Cut(m[2], "git liza")
				if end := strings.IndexAny(line, ".,;:)"); end >= 0 {
					line = line[:end]
				}
				flags += checkFlags(t, name, cmd, line)
			}
			return true
		})
	}
	if seen < 350 || flags < 150 {
		t.Errorf("only %d commands and %d flags were found: the search is wrong", seen, flags)
	}
}
