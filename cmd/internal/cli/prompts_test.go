package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/cmd/internal/dispatch"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/specs"
)

var (
	inPrompt = regexp.MustCompile("git liza ([a-z][a-z-]*(?: [a-z]+)?)([^\n`;]*)")
	listed   = regexp.MustCompile(`(?s)YOUR COMMANDS: (.*?)\.\n`)
	printed  = regexp.MustCompile(`git liza docs ([a-z-]+)`)
)

// TestCommandsInPrompts: every command in a prompt exists with the flags shown, and so does every
// document.
func TestCommandsInPrompts(t *testing.T) {
	seen, flags := 0, 0
	for name, text := range prompts(t) {
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
		for _, m := range inPrompt.FindAllStringSubmatch(text, -1) {
			cmd := dispatch.Find(strings.Fields(m[1]))
			if cmd == nil {
				t.Errorf("%s names `git liza %s`, which is not a command", name, m[1])
				continue
			}
			seen++
			line, _, _ := strings.Cut(m[2], "git liza")
			flags += checkFlags(t, name, cmd, line)
		}
	}
	if seen < 200 || flags < 200 {
		t.Errorf("only %d commands and %d flags were found in the prompts: the search is wrong", seen, flags)
	}
}

// prompts returns the texts that agents are started with: the templates and rendered examples.
func prompts(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"templates/*.tmpl", "testdata/*.txt"} {
		files, err := filepath.Glob("../../../roles/prompt/" + pattern)
		if err != nil || len(files) < 10 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text := testrun.Must(os.ReadFile(file))(t)
			texts[filepath.Base(file)] = string(text)
		}
	}
	return texts
}
