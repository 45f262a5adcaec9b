//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestHiddenIntegration: the server finds the integration branch even behind a replacement ref,
// which anybody may push, or a name that YAML quotes.
func TestHiddenIntegration(t *testing.T) {
	t.Parallel()
	s := &site{newRepository(t)}
	const branch, word = "'it's'", `"'it's'"`
	s.must("", "init", "--unattended", "A goal", "--spec", "specs/vision.md", "--integration-branch", branch)
	s.ok("", "", "git init -q --bare -b main ../server.git && git-liza -C ../server.git hooks install --server && git remote add origin \"$PWD/../server.git\" && git push -q origin main && git-liza share origin")
	before := s.ok("", "", "git -C ../server.git for-each-ref refs/heads")
	for _, replaced := range []string{
		`b=$(git rev-parse liza/state:config.yaml); n=$(git cat-file blob $b | sed 's/^integration_branch:.*/integration_branch: other/' | git hash-object -w --stdin)`,
		`b=$(git rev-parse liza/state); n=$(git commit-tree -m other main^{tree})`,
	} {
		said, exit := s.sh("", "", replaced+`; git push -q origin $n:refs/replace/$b || exit 9
git push origin $(git commit-tree -p `+word+` -m sneak `+word+`^{tree}):refs/heads/`+word)
		if exit == 0 || exit == 9 || !strings.Contains(said, "nothing on the board records") {
			t.Errorf("exit %d\n%s", exit, said)
		}
	}
	testrun.Equal(t, s.ok("", "", "git -C ../server.git for-each-ref refs/heads"), before, "it changed")
	s.ok("", "", "git push -q origin main:feature")
	s.proven()
}

// TestForgedApproval: no operation is accepted on top of one that does not follow from the board
// before it, and a forged approval lands nothing, whether it is the newest operation or was fetched
// before newer ones.
func TestForgedApproval(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.committed("parse.txt")
	s.must("coder-1", "submit", "parse")
	s.must("code-reviewer-1", "register")
	s.approved("more", map[string]string{"more.txt": "more\n"})
	s.must("", "note", "a note")
	s.ok("", "", bypass+`forge tasks/parse.yaml 's/^status: READY_FOR_REVIEW/status: APPROVED\napproved_by: code-reviewer-1/'
c=$(git cat-file commit liza/state | sed '1,/^$/d' | sed 's/^Liza-Request: .*/Liza-Request: other/' | git commit-tree -p liza/state $tree) && git update-ref refs/heads/liza/state $c`)
	merges := func() {
		t.Helper()
		if out, errs, exit := s.insideAs("code-reviewer-1", "merge", "parse"); exit != 4 || !strings.Contains(errs, "leads to other files") {
			t.Errorf("exit %d\n%s%s", exit, out, errs)
		}
	}
	integration := s.ok("", "", "git rev-parse integration")
	for agent, args := range map[string][]string{"": {"note", "hello"}, "coder-2": {"release", "print"}} {
		if out, errs, exit := s.insideAs(agent, args...); exit != 4 || !strings.Contains(errs, "is inconsistent") || !strings.Contains(errs, "git liza verify") {
			t.Errorf("%s %v: exit %d\n%s%s", agent, args, exit, out, errs)
		}
	}
	for _, reader := range []string{"status", "inbox", "show parse", "log"} {
		out, errs, exit := s.inside(strings.Fields(reader)...)
		if exit != 0 || !strings.Contains(out+errs, "is inconsistent: ") {
			t.Errorf("%s does not warn: exit %d\n%s%s", reader, exit, out, errs)
		}
	}
	merges()
	s.ok("", "", `c=$(git rev-parse liza/state) && echo "$c $c" >.git/liza/proven`)
	s.must("", "note", "hello")
	merges()
	s.must("", "note", "once more")
	merges()
	testrun.Equal(t, s.ok("", "", "git rev-parse integration"), integration, "integration has moved")
	// A train leaves it out and lands the others.
	if out, errs, exit := s.insideAs("code-reviewer-1", "merge", "--all"); exit != 0 || !strings.Contains(out, "left out: parse: ") {
		t.Errorf("exit %d\n%s%s", exit, out, errs)
	}
	s.stands("more", "MERGED")
	s.stands("parse", "APPROVED")
	if s.lies("integration:parse.txt") {
		t.Error("work whose approval was forged has landed")
	}
}

// TestSettingsOfManyLines: values that look like other settings do not hide integration; the lock
// reads them as values.
func TestSettingsOfManyLines(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.must("", "config", "set", "worktree_setup", "true\nintegration_branch: nowhere")
	s.must("", "config", "set", "integration_test", "true\n\nintegration_branch: nowhere\n")
	before := s.ok("", "", "git -C ../server.git for-each-ref refs/heads")
	for range 2 { // the second time with cached settings
		for _, push := range []string{"$(git commit-tree -p integration -m sneak integration^{tree}):refs/heads/integration", "-f $(git commit-tree -m sneak integration^{tree}):refs/heads/integration", ":integration"} {
			if said, exit := s.sh("", "", "git push origin "+push); exit == 0 || !strings.Contains(said, "remote: liza: ") {
				t.Errorf("%s: exit %d\n%s", push, exit, said)
			}
		}
		s.ok("", "", "git push -q origin main:refs/heads/nowhere && git push -q origin :nowhere")
	}
	testrun.Equal(t, s.ok("", "", "git -C ../server.git for-each-ref refs/heads"), before, "it changed")
	// Another branch moves without git-liza once these settings are cached; with other settings
	// git-liza is needed.
	gone := `PATH="$(dirname "$(command -v git)"):/usr/bin:/bin"; `
	s.ok("", "", `cd ../server.git && sed -i.kept "s/^program=.*/program='\/nowhere'/" liza/hooks/run`)
	s.ok("", "", gone+"git push -q origin main:feature")
	s.ok("", "", "cd ../server.git && mv liza/hooks/run.kept liza/hooks/run")
	s.must("", "config", "set", "worktree_setup", "")
	s.ok("", "", `cd ../server.git && sed -i "s/^program=.*/program='\/nowhere'/" liza/hooks/run`)
	if said, exit := s.sh("", "", gone+"git push origin main:other"); exit == 0 || !strings.Contains(said, "git-liza does not answer on this server") {
		t.Errorf("exit %d\n%s", exit, said)
	}
	s.proven()
}

// TestFastClocks: a fast clock takes over no lease, neither by the date that it wrote, which every
// later operation has to follow, nor by its own reading where the server's clock is right.
func TestFastClocks(t *testing.T) {
	t.Parallel()
	at := func(s *site, ahead time.Duration) *project {
		p := *s.project
		p.env = append(append([]string(nil), s.env...), "LIZA_TEST_NOW="+time.Now().Add(ahead).UTC().Format(time.RFC3339))
		return &p
	}
	alone := newSite(t)
	at(alone, 40*time.Minute).must("", "note", "from a fast clock")
	for agent, args := range map[string][]string{"coder-3": {"claim", "parse"}, "planner-1": {"release", "print"}} {
		if out, errs, exit := alone.insideAs(agent, args...); exit != 1 || !strings.Contains(errs, "lease runs until") && !strings.Contains(errs, "a claim needs UNCLAIMED, or an expired lease") {
			t.Errorf("%s: exit %d\n%s%s", agent, exit, out, errs)
		}
	}
	alone.must("coder-1", "heartbeat")
	s := newServer(t)
	// The server's clock is right.
	s.ok("", "", "git config remote.origin.receivepack 'env -u LIZA_TEST_NOW git-receive-pack'")
	s.must("", "config", "set", "lease_duration_by_hand", "110") // less than a server lets a clock be ahead
	s.must("coder-1", "heartbeat")
	s.must("coder-3", "register")
	if out, errs, exit := at(s, 115*time.Second).liza("coder-3", "claim", "parse"); exit == 0 || !strings.Contains(errs, "remote: liza: ") || !strings.Contains(errs, "or an expired lease") {
		t.Errorf("through the server: exit %d\n%s%s", exit, out, errs)
	}
	s.proven()
}

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
