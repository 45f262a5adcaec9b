package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/dispatch"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/specs"
)

// called matches a command written as code: in backquotes, in a command substitution, or at the
// beginning of a line.
var called = regexp.MustCompile("(?m)(?:`|^ *|\\$\\(|[A-Z_]+=\\S+ )git liza ([a-z][a-z-]*(?: [a-z]+)?)")

// TestCommandsInDocumentsExist: every command and flag named in a document or the README exists.
func TestCommandsInDocumentsExist(t *testing.T) {
	texts := map[string]string{}
	for _, d := range specs.All() {
		texts[d.Name], _ = specs.Text(d.Name)
	}
	readme := testrun.Must(os.ReadFile("../../../README.md"))(t)
	texts["README"] = string(readme)
	seen, flags := 0, 0
	for name, text := range texts {
		text = strings.ReplaceAll(text, "\\\n", " ")
		for _, at := range called.FindAllStringSubmatchIndex(text, -1) {
			words := strings.Fields(text[at[2]:at[3]])
			seen++
			cmd := dispatch.Find(words)
			if words[0] != "help" && cmd == nil {
				t.Errorf("%s names `git liza %s`, which is not a command", name, strings.Join(words, " "))
			}
			end := at[3] + strings.IndexAny(text[at[3]:]+"\n", "`\n")
			flags += checkFlags(t, name, cmd, text[at[3]:end])
		}
		for _, span := range spans(text) { // tables write commands without git liza
			if words := strings.Fields(span); strings.Contains(span, " --") && words[0] != "git" {
				flags += checkFlags(t, name, dispatch.Find(words), span)
			}
		}
	}
	if seen < 100 || flags < 100 {
		t.Errorf("only %d commands and %d flags were found in the documents: the search is wrong", seen, flags)
	}
}

var (
	quotedText = regexp.MustCompile(`"[^"]*"|'[^']*'|#.*`)
	namedFlag  = regexp.MustCompile(`(?:^|[ |\[])--([a-z][a-z-]*)`)
)

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
