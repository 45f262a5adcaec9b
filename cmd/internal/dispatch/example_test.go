package dispatch_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/cmd/internal/call"
	_ "github.com/git-liza/git-liza/cmd/internal/cli" // the commands
	"github.com/git-liza/git-liza/cmd/internal/dispatch"
)

// TestExamples: every command has an example, and the command's own parser accepts each of its
// flags and arguments.
func TestExamples(t *testing.T) {
	for _, cmd := range dispatch.Commands() {
		if cmd.Example == "" {
			t.Errorf("%s has no example", cmd.Name)
			continue
		}
		for _, line := range strings.Split(cmd.Example, "\n") {
			words := shellWords(line)
			prefix := append([]string{"git", "liza"}, strings.Fields(cmd.Name)...)
			if len(words) < len(prefix) || !slices.Equal(words[:len(prefix)], prefix) {
				t.Errorf("%q is an example of %s", line, cmd.Name)
				continue
			}
			if _, err := dispatch.Parse(&call.Call{App: call.OS(), Cmd: cmd}, words[len(prefix):]); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
	}
}

var shellWord = regexp.MustCompile(`(?:[^\s"]|"[^"]*")+`)

// shellWords returns the words of a line's first command, split as by a shell.
func shellWords(line string) (words []string) {
	for _, word := range shellWord.FindAllString(line, -1) {
		if word == "|" || word == ">" {
			break
		}
		words = append(words, strings.ReplaceAll(word, `"`, ""))
	}
	return words
}
