package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestProjectsCommands: worktree_setup and the integration test run code that agents wrote. That
// code acts for nobody, has nobody's key and moves no ref, even if the human's key is in git's
// settings and the code removes its variables.
func TestProjectsCommands(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("there is no ssh-keygen")
	}
	p := newRepository(t)
	keys := t.TempDir()
	for _, name := range []string{"ann", "coder-1", "code-reviewer-1"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(keys, name)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %s", out)
		}
	}
	as := func(name string) *project {
		other := *p
		other.env = append(p.env[:len(p.env):len(p.env)], "LIZA_SIGNING_KEY="+filepath.Join(keys, name))
		return &other
	}
	ann := as("ann")
	ann.must("", "init", "--unattended", "A goal")
	ann.must("", "keys", "add", "ann@example.com", filepath.Join(keys, "ann.pub"))
	ann.set("require_signatures true")
	ann.must("", "keys", "add", "coder-1", filepath.Join(keys, "coder-1.pub"))
	ann.must("", "keys", "add", "code-reviewer-1", filepath.Join(keys, "code-reviewer-1.pub"))
	said := filepath.Join(t.TempDir(), "said")
	attack := `{ echo "key=[$LIZA_SIGNING_KEY$GH_TOKEN] agent=[$LIZA_AGENT_ID] session=[$LIZA_SESSION]"
		git-liza config set claim_retry_limit 7; echo "config $?"
		git-liza -C ../.. note hello; echo "note $?"
		env -u LIZA_SUPERVISED git-liza -C ../.. config set require_signatures false; echo "without variables $?"
		env -i PATH="$PATH" HOME="$HOME" git-liza -C ../.. config set require_signatures false; echo "no environment $?"
		env -u LIZA_SUPERVISED setsid -w git-liza -C ../.. config set require_signatures false; echo "another session $?"
		unshare --pid --fork --mount-proc env -u LIZA_SUPERVISED git-liza -C ../.. config set require_signatures false; echo "another namespace $?"
		rm -f "$TMPDIR/left"; (env -u LIZA_SUPERVISED sh -c 'sleep 0.2; git-liza -C ../.. config set require_signatures false; echo $? >"$TMPDIR/left"' &)
		while ! grep -q . "$TMPDIR/left"; do sleep 0.05; done 2>/dev/null; echo "left by its parent $(cat "$TMPDIR/left")"
		LIZA_AGENT_ID=code-reviewer-1 git-liza discover --desc x --severity low; echo "reviewer $?"
		forged=$(git commit-tree -m forged -p HEAD 'HEAD^{tree}')
		git update-ref refs/heads/integration $forged; echo "integration $?"
		git -C ../.. update-ref refs/heads/liza/state liza/state~1; echo "board $?"
		git -C ../.. update-ref -d refs/liza/leases/coder-1; echo "lease $?"
		git push -q --no-verify ../.. $forged:refs/heads/integration; echo "push $?"
		git tag forged; echo "tag $?"; } >>` + "'" + said + "' 2>&1; true"
	p.git("config", "liza.signingkey", filepath.Join(keys, "ann")) // where the code could find it
	p.env = append(p.env, "TMPDIR="+t.TempDir(), "GH_TOKEN=s3cr3t")
	ann, coder, reviewer := as("ann"), as("coder-1"), as("code-reviewer-1")
	ann.must("", "config", "set", "integration_test", attack)
	ann.must("", "config", "set", "worktree_setup", attack)
	// The human's key is in the environment of those who claim and merge.
	ann.addTask("parse")
	coder.must("coder-1", "register") // a lease that the setup for the claim can attack
	coder.must("coder-1", "claim", "parse")
	coder.must("coder-1", "pre-exec", "parse", "--intent", "write it", "--validation", "it prints y", "--file", "y")
	p.write(".worktrees/parse/x_test.go", "package x\n")
	p.git("-C", ".worktrees/parse", "add", "-A")
	p.git("-C", ".worktrees/parse", "commit", "-q", "-m", "do it")
	coder.must("coder-1", "submit", "parse")
	reviewer.must("code-reviewer-1", "claim-review", "parse")
	reviewer.must("code-reviewer-1", "verdict", "parse", "APPROVED", "--checked", "tests", "--commit", "task/parse")
	tip := p.git("rev-parse", "liza/state")
	reviewer.must("code-reviewer-1", "merge", "parse")
	if ops := p.git("log", "--format=%s", strings.TrimSpace(tip)+"..liza/state"); strings.Count(ops, "\n") != 1 || !strings.HasPrefix(ops, "merge(parse)") {
		t.Errorf("besides the merge:\n%s", ops)
	}
	text := testrun.Must(os.ReadFile(said))(t)
	runs := strings.Split(strings.TrimPrefix(string(text), "key="), "key=")
	if len(runs) != 3 { // the setup for the claim, the setup for the test, and the test
		t.Errorf("it ran %d times", len(runs))
	}
	for _, run := range runs {
		if !strings.HasPrefix(run, "[] agent=[] session=[]\n") {
			t.Errorf("who acts: %.200s", run)
		}
		for _, step := range []string{"config", "note", "reviewer", "integration", "board", "lease", "push", "tag", "without variables", "no environment", "another session", "another namespace", "left by its parent"} {
			if strings.Contains(run, "\n"+step+" 0\n") || !strings.Contains(run, "\n"+step+" ") {
				t.Errorf("%s went through:\n%s", step, run)
			}
		}
	}
	ann.proven()
}
