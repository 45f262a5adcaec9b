//go:build linux

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestUnfitRemotes: share finds a remote that does not accept everything a board needs before
// anything is shared, and says why in one sentence; a clone that joins is warned.
func TestUnfitRemotes(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	const byHook = "#!/bin/sh\nzero=0000000000000000000000000000000000000000\nwhile read -r old new ref; do\n%\ndone\n"
	for name, c := range map[string]struct{ hook, config, branch, says string }{
		"only other branches":  {hook: `case "$ref" in refs/heads/liza/*) echo "not here"; exit 1;; refs/heads/*|refs/tags/*) ;; *) echo "only heads and tags"; exit 1;; esac`, says: "origin does not accept refs below refs/liza: remote: only heads and tags"},
		"nothing is replaced":  {hook: `[ "$old" = $zero ] || [ "$new" = $zero ] || { echo "no rewinding"; exit 1; }`, says: "origin does not let a ref below refs/liza be replaced, as each heartbeat does: remote: no rewinding"},
		"nothing is deleted":   {hook: `case "$new $ref" in $zero*|*" refs/heads/liza/"*) echo "nothing is deleted"; exit 1; esac`, says: "origin does not let a ref below refs/liza be deleted: remote: nothing is deleted"},
		"hidden refs":          {config: "receive.hideRefs=refs/liza refs/heads/liza", says: "origin does not accept refs below refs/liza: [remote rejected] (deny updating a hidden ref)"},
		"a branch called liza": {branch: "liza", says: "origin has a branch liza, and git keeps no branches below a branch: a board needs liza/…"},
		"pushed elsewhere":     {says: "a ref pushed to origin can't be read back immediately: pushes go to another address (pushurl), or reads are served by a copy that lags behind"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			hub := filepath.Join(t.TempDir(), "hub.git")
			p.git("init", "-q", "--bare", "-b", "main", hub)
			p.git("remote", "add", "origin", hub)
			p.git("push", "-q", "origin", "main")
			elsewhere := ""
			if c.branch != "" {
				p.git("push", "-q", "origin", "main:refs/heads/"+c.branch)
			}
			switch {
			case c.hook != "":
				testrun.Check(t, testrun.WriteProgram(filepath.Join(hub, "hooks", "pre-receive"), strings.Replace(byHook, "%", c.hook, 1)))
			case c.config != "":
				key, value, _ := strings.Cut(c.config, "=")
				for _, value := range strings.Fields(value) {
					p.git("--git-dir="+hub, "config", "--add", key, value)
				}
			case c.branch == "":
				elsewhere = filepath.Join(t.TempDir(), "other.git")
				p.git("clone", "-q", "--bare", hub, elsewhere)
				p.git("config", "remote.origin.pushurl", elsewhere)
			}
			was := p.git("config", "--local", "--list")
			out, errs, code := p.liza("", "share", "origin")
			if code != 1 || out != "" || !strings.HasPrefix(errs, "git liza: "+c.says+"\nhint: ") {
				t.Errorf("exit %d\n%s%s", code, out, errs)
			}
			left := strings.Fields(p.git("--git-dir="+hub, "for-each-ref", "--format=%(refname)", "refs/heads/liza/", "refs/liza"))
			if elsewhere != "" {
				left = append(left, strings.Fields(p.git("--git-dir="+elsewhere, "for-each-ref", "--format=%(refname)", "refs/liza"))...)
			}
			left = slices.DeleteFunc(left, func(ref string) bool { return ref == "refs/heads/"+c.branch })
			if len(left) > 0 && name != "nothing is deleted" {
				t.Errorf("something was shared, or a probe is left:\n%s", left)
			}
			if now := p.git("config", "--local", "--list"); now != was {
				t.Errorf("the settings were\n%s\nand are\n%s", was, now)
			}
			p.proven()
		})
	}
}
