package git

import (
	"path/filepath"
	"testing"
)

// TestInUse checks which branches an unfinished rebase or bisection holds, in the main worktree and
// in a linked one.
func TestInUse(t *testing.T) {
	for name, c := range map[string]struct {
		begin []string
		ref   string
		want  string
	}{
		"nothing":             {[]string{"status"}, "refs/heads/side", ""},
		"rebase":              {[]string{"-c", "sequence.editor=echo break >", "rebase", "-q", "-i", "HEAD"}, "refs/heads/side", "rebase"},
		"a branch on the way": {[]string{"-c", "sequence.editor=sed -i 1s/^/break\\\\n/", "rebase", "-q", "-i", "--update-refs", "HEAD~2"}, "refs/heads/middle", "rebase"},
		"bisect":              {[]string{"bisect", "start", "HEAD", "HEAD~1"}, "refs/heads/side", "bisect"},
		"another":             {[]string{"bisect", "start", "HEAD", "HEAD~1"}, "refs/heads/main", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, r := scratch(t)
			linked := filepath.Join(t.TempDir(), "linked")
			native(t, r.TopLevel(), "worktree", "add", "-q", "-b", "side", linked)
			for _, message := range []string{"one", "two"} {
				native(t, linked, "commit", "-q", "--allow-empty", "-m", message)
			}
			native(t, linked, "branch", "middle", "HEAD")
			native(t, linked, "commit", "-q", "--allow-empty", "-m", "three")
			native(t, linked, c.begin...)
			top, command := r.InUse(c.ref)
			if command != c.want || command != "" && filepath.Base(top) != "linked" {
				t.Errorf("%q by %q, not %q", top, command, c.want)
			}
			native(t, r.TopLevel(), "-c", "sequence.editor=echo break >", "rebase", "-q", "-i", "HEAD")
			if top, command := r.InUse("refs/heads/main"); command != "rebase" || top != r.TopLevel() {
				t.Errorf("main is held by %q in %q", command, top)
			}
		})
	}
}
