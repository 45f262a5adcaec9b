//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestCompletionInShells checks what a user of a real shell sees after pressing Tab: tasks with
// their states, flags with their descriptions, and none of the quotes that are meant for pflag.
func TestCompletionInShells(t *testing.T) {
	t.Parallel()
	shells := map[string]struct {
		start []string // the shell; RC is replaced by the file with rc
		rc    string
	}{
		"bash": {[]string{"bash", "--noprofile", "--rcfile", "RC", "-i"}, "PS1='ready> '\nbind 'set enable-bracketed-paste off'\nsource <(git-liza completion bash)\n"},
		"zsh": {[]string{"zsh", "-f", "-i"}, "PS1='ready> '\nautoload -Uz compinit\ncompinit -u -D\n" +
			"source <(git-liza completion zsh)\n"},
		"fish": {[]string{"fish", "--no-config", "-i", "-C", "source RC"}, "function fish_prompt; echo -n 'ready> '; end\n" +
			"function fish_right_prompt; end\ngit-liza completion fish | source\n"},
	}
	for name, shell := range shells {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				t.Skipf("there is no %s here", name)
			}
			t.Parallel()
			p := newProject(t)
			p.addTask("greet-all")
			p.addTask("greet-one")
			rc := filepath.Join(t.TempDir(), "rc")
			testrun.Check(t, os.WriteFile(rc, []byte(shell.rc), 0o644))
			home := t.TempDir()
			argv := slices.Clone(shell.start)
			for i, arg := range argv {
				argv[i] = strings.ReplaceAll(arg, "RC", rc)
			}
			s := p.onTerminal(pty.Winsize{Rows: 40, Cols: 150}, []string{"HOME=" + home, "TMPDIR=" + home, "XDG_CONFIG_HOME=" + home, "XDG_DATA_HOME=" + home, "XDG_RUNTIME_DIR=" + home, "PS1=start> "}, argv...)
			if name == "zsh" {
				s.said("start> ")
				s.press("source " + rc + "\r")
			}
			s.said("ready> ")
			s.press("git-liza show greet-\t\t")
			s.said("greet-one")
			s.said("UNCLAIMED")
			s.press("\x15git-liza agent --ex\t\t")
			s.said("git-liza agent --exec")
			s.press("\x15git-liza add-task --s\t\t")
			s.said("the FILE (with #anchor")
			if strings.Contains(s.all(), "`FILE`") {
				t.Errorf("there are raw quotes:\n%s", s.all())
			}
		})
	}
}
