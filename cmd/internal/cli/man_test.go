package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/cmd/internal/edge"
)

// Each command has a manual page in which nothing of its help is lost, and that the system's own formatter
// understands, where there is one.
func TestManual(t *testing.T) {
	dir := t.TempDir()
	c := &edge.Call{App: edge.OS(), Cmd: docsCommand()}
	n, err := writeManual(c, dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(commands()) + 1; n != want {
		t.Errorf("%d pages, not %d", n, want)
	}
	groff, noGroff := exec.LookPath("groff")
	for _, cmd := range commands() {
		file := filepath.Join(dir, "git-liza-"+strings.ReplaceAll(cmd.Name, " ", "-")+".1")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, want := range []string{cmd.Short, cmd.Long, strings.TrimSpace(options(cmd, (&edge.Call{App: edge.OS(), Cmd: cmd}).FlagSet()))} {
			for _, line := range strings.Split(want, "\n") {
				if !strings.Contains(string(text), roff(line)) && !strings.Contains(string(text), roff(capital(line))) {
					t.Errorf("%s lacks %q", file, line)
				}
			}
		}
		if noGroff != nil {
			continue
		}
		if out, err := exec.Command(groff, "-man", "-ww", "-z", "-Tascii", "-k", file).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
}
