package share_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestForgedBranches: names of branches that no board can have, which somebody has written into the
// settings of a remote's board, are refused by a clone that joins it, before git's settings have
// them: a plain fetch works as before.
func TestForgedBranches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	forger := filepath.Join(t.TempDir(), "forger")
	w.git("", "clone", "-q", "-b", "liza/state", w.hub, forger)
	config := testrun.Must(os.ReadFile(filepath.Join(forger, "config.yaml")))(w.t)
	dir := t.TempDir()
	for forged, name := range map[string]string{
		"integration_branch: ../../config": "leads elsewhere", `integration_branch: "*"`: "all branches",
		"task_branch_prefix: integration/": "prefix below integration",
	} {
		key, _, _ := strings.Cut(forged, ":")
		lines := strings.Split(string(config), "\n")
		for i, line := range lines {
			if strings.HasPrefix(line, key+":") {
				lines[i] = forged
			}
		}
		w.check(os.WriteFile(filepath.Join(forger, "config.yaml"), []byte(strings.Join(lines, "\n")), 0o644))
		w.git(forger, "commit", "-qam", "forged")
		w.git(forger, "push", "-q", "origin", "HEAD:liza/state")
		dir := filepath.Join(dir, name)
		w.git("", "clone", "-q", w.hub, dir)
		before := w.git(dir, "config", "--local", "--list")
		if err := w.open(dir).Join(w.ctx, "origin"); !errors.As(err, new(*log.RecordError)) {
			t.Errorf("%s: a clone joins with %v", name, err)
		}
		if after := w.git(dir, "config", "--local", "--list"); after != before {
			t.Errorf("%s: git's settings have become\n%s", name, after)
		}
		w.git(dir, "fetch", "-q")
	}
}
