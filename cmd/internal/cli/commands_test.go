package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/dispatch"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/specs"
)

var (
	// called matches a command written as code: in backquotes, in a command substitution, or at the
	// beginning of a line.
	called   = regexp.MustCompile("(?m)(?:`|^ *|\\$\\(|[A-Z_]+=\\S+ )git liza ([a-z][a-z-]*(?: [a-z]+)?)([^\n`]*)")
	inPrompt = regexp.MustCompile("git liza ([a-z][a-z-]*(?: [a-z]+)?)([^\n`;]*)")
	listed   = regexp.MustCompile(`(?s)YOUR COMMANDS: (.*?)\.\n`)
	printed  = regexp.MustCompile(`git liza docs ([a-z-]+)`)

	quotedText = regexp.MustCompile(`"[^"]*"|'[^']*'|#.*`)
	namedFlag  = regexp.MustCompile(`(?:^|[ |\[])--([a-z][a-z-]*)`)
)

// inSentence are the words that follow the program's name where a text tells of the program.
var inSentence = strings.Fields("alone are asks can does drops for has help into is knows manual mean moves needs pushes to works")

// counted are the commands and flags that texts name.
type counted struct{ commands, flags int }

// in checks that the commands of a text exist with the flags shown, up to a character of ends. Words
// of others may follow the program's name.
func (n *counted) in(t *testing.T, name, text string, pattern *regexp.Regexp, ends string, others ...string) {
	t.Helper()
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		words := strings.Fields(m[1])
		cmd := dispatch.Find(words)
		if cmd == nil {
			if !slices.Contains(others, words[0]) {
				t.Errorf("%s names `git liza %s`, which is not a command", name, m[1])
			}
			continue
		}
		n.commands++
		line, _, _ := strings.Cut(m[2], "git liza")
		if end := strings.IndexAny(line, ends); end >= 0 {
			line = line[:end]
		}
		n.flags += checkFlags(t, name, cmd, line)
	}
}

// least fails if fewer were found: then the search is wrong.
func (n *counted) least(t *testing.T, commands, flags int) {
	t.Helper()
	if n.commands < commands || n.flags < flags {
		t.Errorf("only %d commands and %d flags were found: the search is wrong", n.commands, n.flags)
	}
}

func checkFlags(t *testing.T, document string, cmd *call.Command, line string) int {
	t.Helper()
	if cmd == nil {
		return 0
	}
	known := (&call.Call{Cmd: cmd}).FlagSet()
	named := namedFlag.FindAllStringSubmatch(quotedText.ReplaceAllString(line, ""), -1)
	for _, m := range named {
		if known.Lookup(m[1]) == nil {
			t.Errorf("%s: git liza %s has no flag --%s", document, cmd.Name, m[1])
		}
	}
	return len(named)
}

// TestCommandsInDocumentsExist: every command and flag named in a document or the README exists.
func TestCommandsInDocumentsExist(t *testing.T) {
	texts := map[string]string{}
	for _, d := range specs.All() {
		texts[d.Name], _ = specs.Text(d.Name)
	}
	readme := testrun.Must(os.ReadFile("../../../README.md"))(t)
	texts["README"] = string(readme)
	var found counted
	for name, text := range texts {
		text = strings.ReplaceAll(text, "\\\n", " ")
		found.in(t, name, text, called, "", "help")
		for _, span := range spans(text) { // tables write commands without git liza
			if words := strings.Fields(span); strings.Contains(span, " --") && words[0] != "git" {
				found.flags += checkFlags(t, name, dispatch.Find(words), span)
			}
		}
	}
	found.least(t, 100, 100)
}

// TestCommandsInMessages: every command in a hint, or in another text in the code, exists with the
// flags shown.
func TestCommandsInMessages(t *testing.T) {
	const top = "../../.."
	files := testrun.Must(exec.Command("git", "-C", top, "ls-files", "*.go").Output())(t)
	var found counted
	for _, name := range strings.Fields(string(files)) {
		if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			continue
		}
		file := testrun.Must(parser.ParseFile(token.NewFileSet(), filepath.Join(top, name), nil, 0))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, is := n.(*ast.BasicLit); is && literal.Kind == token.STRING {
				text := testrun.Must(strconv.Unquote(literal.Value))(t)
				found.in(t, name, text, inPrompt, ".,;:)", inSentence...)
			}
			return true
		})
	}
	found.least(t, 350, 150)
}

// TestCommandsInPrompts: every command in a prompt exists with the flags shown, and so does every
// document.
func TestCommandsInPrompts(t *testing.T) {
	var found counted
	for _, pattern := range []string{"templates/*.tmpl", "testdata/*.txt"} { // and rendered examples
		files, err := filepath.Glob("../../../roles/prompt/" + pattern)
		if err != nil || len(files) < 10 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, name := string(testrun.Must(os.ReadFile(file))(t)), filepath.Base(file)
			for _, m := range printed.FindAllStringSubmatch(text, -1) {
				if _, known := specs.Text(m[1]); !known {
					t.Errorf("%s names the document %s, which there is not", name, m[1])
				}
			}
			for _, m := range listed.FindAllStringSubmatch(text, -1) {
				for _, words := range strings.Split(m[1], ",") {
					if dispatch.Find(strings.Fields(words)) == nil {
						t.Errorf("%s lists %s, which is not a command", name, words)
					}
				}
			}
			found.in(t, name, text, inPrompt, "")
		}
	}
	found.least(t, 200, 200)
}
