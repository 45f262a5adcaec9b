package dispatch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/cmd/internal/call"
	_ "github.com/git-liza/git-liza/cmd/internal/cli" // the commands
	"github.com/git-liza/git-liza/cmd/internal/dispatch"
	"github.com/git-liza/git-liza/gitboard/testrun"
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

// TestManual: each command has a manual page that contains all of its help and that the system's
// formatter, where there is one, accepts.
func TestManual(t *testing.T) {
	testrun.NotShort(t)
	dir := t.TempDir()
	n := testrun.Must(dispatch.WriteManual(&call.Call{App: call.OS()}, dir))(t)
	if want := len(dispatch.Commands()) + 1; n != want {
		t.Errorf("%d pages, not %d", n, want)
	}
	var files []string
	for _, cmd := range dispatch.Commands() {
		file := filepath.Join(dir, "git-liza-"+strings.ReplaceAll(cmd.Name, " ", "-")+".1")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, want := range []string{cmd.Short, cmd.Long, strings.TrimSpace(dispatch.Options((&call.Call{App: call.OS(), Cmd: cmd}).FlagSet()))} {
			for _, line := range strings.Split(want, "\n") {
				if !strings.Contains(string(text), dispatch.Roff(line)) && !strings.Contains(string(text), dispatch.Roff(dispatch.Capital(line))) {
					t.Errorf("%s lacks %q", file, line)
				}
			}
		}
		files = append(files, file)
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		return
	}
	if out, err := exec.Command(groff, append([]string{"-man", "-ww", "-z", "-Tascii", "-k"}, files...)...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
