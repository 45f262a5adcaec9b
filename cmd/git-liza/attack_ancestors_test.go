//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestSupervisedAncestors: a process under a supervisor can pass neither for a human nor for
// another agent, whatever it removes from its environment.
func TestSupervisedAncestors(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	apart := "unshare --pid --fork --mount-proc "
	if exec.Command("unshare", "--pid", "--fork", "--mount-proc", "true").Run() != nil {
		apart = ""
	}
	p.addTask("print")
	p.must("coder-2", "claim", "print")
	p.addTask("parse")
	for name, c := range testrun.Some(2, map[string]struct{ script, says string }{
		"without variables":            {`env -u LIZA_AGENT_ID -u LIZA_SUPERVISED git-liza -C "$root" pause`, "under the supervisor of coder-1, where human commands aren't allowed"},
		"no environment":               {`env -i PATH="$PATH" HOME="$HOME" git-liza -C "$root" pause`, "under the supervisor of coder-1, where human commands aren't allowed"},
		"another session":              {`env -u LIZA_AGENT_ID -u LIZA_SUPERVISED setsid -w git-liza -C "$root" pause`, "under the supervisor of coder-1, where human commands aren't allowed"},
		"left by its parent":           {`(env -u LIZA_AGENT_ID -u LIZA_SUPERVISED sh -c 'read x; git-liza -C "$root" pause' <"$root/../gate" >"$root/../left" 2>&1 &); echo x >"$root/../gate"; while ! grep -q hint "$root/../left"; do sleep 0.05; done; cat "$root/../left"`, "under the supervisor of coder-1, where human commands aren't allowed"},
		"another agent":                {`env -u LIZA_SESSION LIZA_AGENT_ID=code-reviewer-1 git-liza -C "$root" discover --desc x --severity low`, "this process is coder-1's, and can't act as code-reviewer-1"},
		"another's commit":             {`cd "$root/.worktrees/print" && env -u LIZA_SESSION LIZA_AGENT_ID=coder-2 git commit -q --allow-empty -m forged`, "coder-1 does not hold print"},
		"a commit, unnamed":            {`cd "$root" && env -u LIZA_AGENT_ID git commit -q --allow-empty -m forged`, "coder-1 commits only in the worktree of its task"},
		"a namespace of its own":       {apart + `env -i PATH="$PATH" HOME="$HOME" git-liza -C "$root" pause`, "the supervisor of coder-1 runs in another process namespace than this process, which therefore acts for nobody"},
		"an agent there":               {apart + `env -i PATH="$PATH" HOME="$HOME" LIZA_AGENT_ID=code-reviewer-1 git-liza -C "$root" discover --desc x --severity low`, "which therefore acts for nobody"},
		"another agent there":          {apart + `env -u LIZA_SESSION LIZA_AGENT_ID=code-reviewer-1 git-liza -C "$root" discover --desc x --severity low`, "this process is coder-1's, and can't act as code-reviewer-1"},
		"the supervisor's agent there": {apart + `git-liza discover --desc "told apart" --severity low`, "told apart"},
		"hooks there":                  {`cd "$root/.worktrees/print" && ` + apart + `env -i PATH="$PATH" HOME="$HOME" git update-ref refs/heads/integration $(git commit-tree -m x HEAD^{tree})`, "integration moves by a merge"},
		"the hooks":                    {`env -u LIZA_AGENT_ID -u LIZA_SUPERVISED git-liza -C "$root" hooks uninstall`, "under the supervisor of coder-1, where human commands aren't allowed"},
	}) {
		t.Run(name, func(t *testing.T) {
			if strings.HasSuffix(name, "there") || strings.HasPrefix(name, "a namespace") {
				if apart == "" {
					t.Skip("no process namespaces for this user")
				}
			}
			tip := p.git("rev-parse", "liza/state")
			if name == "left by its parent" {
				if _, errs, exit := p.run("", "mkfifo", "../gate"); exit != 0 {
					t.Fatal(errs)
				}
			}
			out := p.must("", "agent", "coder", "--id", "1", "--once", "--exec", "export root='"+p.dir+"'; "+c.script+"; exit 42")
			if !strings.Contains(out, c.says) {
				t.Error(out)
			}
			for _, op := range p.operations(strings.TrimSpace(tip)) {
				if op.agent == "Ann" || op.agent == "code-reviewer-1" {
					t.Errorf("it went through: %+v", op)
				}
			}
			if _, err := os.Stat(filepath.Join(p.dir, ".git", "liza", "hooks", "run")); err != nil {
				t.Error(err)
			}
		})
	}
	p.must("", "pause") // a human, who isn't under a supervisor
	p.proven()
}

// TestRemovedHooks: what an agent removes of the hooks and of its supervisor's records is back when
// the next one starts.
func TestRemovedHooks(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("parse")
	p.must("", "agent", "coder", "--id", "1", "--once", "--exec", "rm -rf '"+filepath.Join(p.dir, ".git", "liza")+"'; exit 42")
	out, errs, _ := p.liza("", "agent", "coder", "--id", "1", "--once", "--exec", `env -i PATH="$PATH" HOME="$HOME" git-liza -C '`+p.dir+`' pause; git-liza hooks status; exit 42`)
	for _, want := range []string{"git liza's hooks had been removed or changed: they are back", "human commands aren't allowed", "hooks: on, for agents"} {
		if !strings.Contains(out+errs, want) {
			t.Errorf("%q is not in\n%s%s", want, out, errs)
		}
	}
	p.proven()
}
