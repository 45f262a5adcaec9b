package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// A site is a project in which coder-1 works on the task parse and coder-2 on print.
type site struct{ *project }

func newSite(t *testing.T) *site {
	t.Helper()
	return &site{prepared(t, "site", t.TempDir(), (*project).occupied)}
}

// occupied makes a project with two tasks, and has coders claim them.
func (p *project) occupied() {
	p.t.Helper()
	p.founded()
	for _, id := range []string{"parse", "print"} {
		p.must("", "add-task", "--id", id, "--desc", "Write "+id, "--done", id+".txt is there", "--scope", "IN: "+id+".txt", "--spec", "specs/vision.md", "--ready", "--kind", "doc")
	}
	p.must("coder-1", "claim", "parse")
	p.must("coder-2", "claim", "print")
}

// sh runs a shell script in a directory of the project as an agent, "" for a human.
func (s *site) sh(agent, dir, script string) (said string, exit int) {
	s.t.Helper()
	there := *s.project
	there.dir = filepath.Join(s.dir, dir)
	out, errs, exit := there.run(agent, "sh", "-c", script)
	return out + errs, exit
}

func (s *site) ok(agent, dir, script string) string {
	s.t.Helper()
	said, exit := s.sh(agent, dir, script)
	if exit != 0 {
		s.t.Fatalf("%s in %s: exit %d\n%s", script, dir, exit, said)
	}
	return said
}

// refs lists all refs except leases, which commands renew.
func (s *site) refs() string {
	s.t.Helper()
	return s.ok("", "", "git for-each-ref | grep -v refs/liza/leases; git rev-parse HEAD; git symbolic-ref HEAD")
}

const parse, print = ".worktrees/parse", ".worktrees/print"

const checkpoint = "git-liza pre-exec parse --intent 'write it' --validation 'cat shows it' --file parse.txt && "

func (s *site) committed(name string) {
	s.t.Helper()
	s.ok("coder-1", parse, checkpoint+"echo 1 >"+name+" && git add . && git commit -q -m 'Write it'")
}

// TestAttacksOnAClone: what agents may not do is refused in their clone and changes nothing: each hook, and
// each of git's ways to it. The rules are tested in package hooks.
func TestAttacksOnAClone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.ok("", "", "git branch human")
	if said, exit := s.sh("coder-1", parse, "git commit --allow-empty -m early"); exit == 0 || !strings.Contains(said, "no pre-execution checkpoint") || !strings.Contains(said, "git liza pre-exec parse") {
		t.Errorf("a commit without a checkpoint: exit %d\n%s", exit, said)
	}
	s.committed("parse.txt")
	before := s.refs()
	for _, c := range []struct{ name, agent, dir, script, rule, instead string }{
		{"no-verify on integration", "coder-1", parse, "git checkout -q integration; git commit --no-verify --allow-empty -m sneak", "integration moves by a merge", "git liza submit parse"},
		{"push into the own repository", "coder-1", parse, "git push . HEAD:integration", "pushes only through git liza", "git liza submit parse"},
		{"stash", "coder-1", parse, "echo 2 >parse.txt; git stash; e=$?; git checkout -q parse.txt; exit $e", "stashes are shared", "commit on the branch"},
		{"the own branch, renamed over another", "coder-1", parse, "git branch -M task/parse integration", "task/parse stays as long as its task", "commit on it"},
		{"integration by a symbolic ref", "coder-1", parse, "git symbolic-ref refs/bisect/alias refs/heads/integration && git update-ref refs/bisect/alias HEAD; e=$?; git symbolic-ref -d refs/bisect/alias; exit $e", "integration moves by a merge", "git liza submit parse"},
		{"a worktree of the agent's own", "coder-1", parse, `eval "$(git-liza env coder-1)" && git worktree add -q ../aside integration && cd ../aside && git commit --no-verify --allow-empty -m sneak; e=$?; git worktree remove -f .; exit $e`, "integration moves by a merge", "git liza"},
		{"a core.hooksPath of the worktree", "coder-1", parse, `eval "$(git-liza env coder-1)" && git config extensions.worktreeConfig true && git config --worktree core.hooksPath /dev/null && git update-ref refs/heads/integration HEAD; e=$?; git config --worktree --unset core.hooksPath; git config --unset extensions.worktreeConfig; exit $e`, "integration moves by a merge", "git liza submit parse"},
		{"another's worktree", "coder-1", print, "git commit --allow-empty -m mine", "coder-1 does not hold print", "git liza prime"},
		{"another's worktree, recreated", "coder-1", parse, "git-liza worktree create print --fresh", "coder-2 holds print, and coder-1 would replace its worktree", "a planner or a human"},
		{"a human's act under an agent's address", "", "", "GIT_AUTHOR_EMAIL=coder-1@liza git-liza note hello", "that is an agent's name or address", "git config user.email"},
		{"a planner in the human's checkout", "planner-1", "", `eval "$(git-liza env planner-1)" && git commit --allow-empty -m mine`, "only coders commit", "git liza discover"},
	} {
		t.Run(c.name, func(t *testing.T) {
			said, exit := s.sh(c.agent, c.dir, c.script)
			if exit == 0 || !strings.Contains(said, "liza: ") || !strings.Contains(said, c.rule) || !strings.Contains(said, c.instead) {
				t.Errorf("exit %d\n%s", exit, said)
			}
			testrun.Equal(t, s.refs(), before, "it changed")
			s.ok("", parse, "[ \"$(git symbolic-ref -q HEAD)\" = refs/heads/task/parse ] || git checkout -q task/parse --")
		})
	}
	s.must("", "verify")
}

// TestAgentsWork: the hooks allow everything that an agent needs for its work.
func TestAgentsWork(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.committed("parse.txt")
	for _, script := range []string{
		"git commit -q --amend -m 'Write parse.txt'",
		"echo 2 >more.txt && git add . && git commit -q --fixup HEAD && git -c sequence.editor=: rebase -q -i --autosquash integration",
		"git cherry-pick --allow-empty --keep-redundant-commits integration 2>&1; git cherry-pick --abort 2>/dev/null; git status >/dev/null",
		"echo 3 >three.txt && git add . && git commit -q -m three && git bisect start HEAD integration -- >/dev/null && git bisect run true >/dev/null && git bisect reset >/dev/null",
		"git reset -q --soft HEAD~1 && git commit -q -m again",
		"git checkout -q --detach HEAD~1 && git checkout -q task/parse",
		"git merge -q --no-edit integration",
		"git revert --no-edit HEAD && git reset -q --hard HEAD~1",
		"git update-ref refs/bisect/mine HEAD && git update-ref -d refs/bisect/mine && git update-ref refs/worktree/mine HEAD",
		"git pack-refs --all --prune && git pack-refs --all && git gc -q && git fetch -q . +refs/heads/main:refs/remotes/x/main",
	} {
		s.ok("coder-1", parse, script)
	}
	// Integration moves, and merging it conflicts.
	s.ok("", "", "git checkout -q integration && echo other >parse.txt && git add . && git commit -q -m other && git checkout -q main && git-liza land integration || true")
	s.ok("coder-1", parse, "! git merge -q integration >/dev/null 2>&1 && echo both >parse.txt && git add . && git commit -q --no-edit")
	for _, line := range []string{"Liza-Task: parse", "Liza-Agent: coder-1"} {
		said := s.ok("", parse, "git log --format=%B -n 2 HEAD")
		if strings.Count(said, line+"\n") < 2 && !strings.Contains(said, "other") {
			t.Errorf("%s is missing in\n%s", line, said)
		}
	}
	for _, key := range []string{"Liza-Task", "Liza-Agent"} {
		if said := s.ok("", parse, "git log -1 --format='%(trailers:key="+key+",valueonly)'"); strings.Count(strings.TrimSpace(said), "\n") != 0 || strings.TrimSpace(said) == "" {
			t.Errorf("%s of the merge: %q", key, said)
		}
	}
	s.must("coder-1", "submit", "parse")
	if said, exit := s.sh("coder-1", parse, "git commit -q --amend -m late"); exit == 0 || !strings.Contains(said, "does not hold parse") {
		t.Errorf("amended after the submission: exit %d\n%s", exit, said)
	}
	if said, exit := s.sh("coder-1", parse, "git commit -q --no-verify --amend -m late"); exit == 0 || !strings.Contains(said, "git liza withdraw parse") {
		t.Errorf("amended after the submission, unverified: exit %d\n%s", exit, said)
	}
	out := s.must("", "verify")
	if strings.Contains(out, "VIOLATION") {
		t.Error(out)
	}
}

// TestProjectsHooks: in agents' worktrees the project's own hooks run first, whatever manages them,
// from the place where they are, and can refuse. Like lint-staged, they may stash for a moment.
func TestProjectsHooks(t *testing.T) {
	t.Parallel()
	const hook = `#!/bin/sh
. "${0%/*}/beside" && echo "own ${0##*/} $*" >&2
if [ "${0##*/}" = pre-commit ] && kept=$(git stash create) && [ "$kept" ]; then git stash store -q "$kept" && git stash drop -q || exit 1; fi
[ ! -e "$FORBID" ]
`
	for name, c := range map[string]struct{ dir, config string }{
		"plain":                 {".git/hooks", ""},
		"relative, in the tree": {".githooks", ".githooks"},
		"absolute":              {"../shared hooks", "$PWD/../shared hooks"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.ok("", "", "mkdir -p '"+c.dir+"'")
			for _, hookName := range []string{"pre-commit", "commit-msg", "post-commit", "reference-transaction"} {
				testrun.Check(t, testrun.WriteProgram(filepath.Join(s.dir, c.dir, hookName), hook))
			}
			s.write(c.dir+"/beside", "")
			if c.config != "" {
				s.ok("", "", `git config core.hooksPath "`+c.config+`"`)
			}
			config := s.ok("", "", "cat .git/config")
			s.ok("coder-1", parse, checkpoint+"true")
			said := s.ok("coder-1", parse, "echo 1 >parse.txt && git add . && git commit -q -m 'Write it' 2>&1")
			for _, want := range []string{"own pre-commit ", "own commit-msg ", "own post-commit ", "own reference-transaction prepared", "own reference-transaction committed"} {
				if !strings.Contains(said, want) {
					t.Errorf("%q is missing:\n%s", want, said)
				}
			}
			testrun.Contains(t, s.ok("", parse, "git log -1 --format=%B"), "Liza-Agent: coder-1\n", "no trailers")
			if said, exit := s.sh("coder-1", parse, "FORBID=/ git commit --allow-empty -m no"); exit == 0 || !strings.Contains(said, "own pre-commit") || strings.Contains(said, "liza: ") {
				t.Errorf("refused by the project: exit %d\n%s", exit, said)
			}
			// A human's commits run them once, and none of Liza's hooks.
			if said := s.ok("", "", "git commit -q --allow-empty -m human 2>&1; git log -1 --format=%B"); strings.Count(said, "own pre-commit") != 1 || strings.Contains(said, "Liza-") {
				t.Errorf("a human's commit:\n%s", said)
			}
			testrun.Equal(t, s.ok("", "", "cat .git/config"), config, "the config changed")
		})
	}
}

// TestHooksWithoutProgram: a missing or broken git-liza blocks nobody's commits.
func TestHooksWithoutProgram(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.ok("coder-1", parse, checkpoint+"true")
	bin := t.TempDir()
	program := filepath.Join(bin, "git-liza")
	for name, content := range map[string]string{
		"missing": "", "garbage": "\x7fELF\x00\x01", "crashing": "#!/bin/sh\nkill -SEGV $$\n",
	} {
		t.Run(name, func(t *testing.T) {
			os.Remove(program)
			if content != "" {
				testrun.Check(t, testrun.WriteProgram(program, content))
			}
			// The hooks run this program, and PATH has no other.
			run := filepath.Join(s.dir, ".git", "liza", "hooks", "run")
			text := testrun.Must(os.ReadFile(run))(t)
			lines := strings.Split(string(text), "\n")
			for i, line := range lines {
				if strings.HasPrefix(line, "program='") {
					lines[i] = "program='" + program + "'"
				}
			}
			testrun.Check(t, os.WriteFile(run, []byte(strings.Join(lines, "\n")), 0o644))
			git := s.ok("", "", "dirname \"$(command -v git)\"")
			said, exit := s.sh("coder-1", parse, "PATH="+strings.TrimSpace(git)+":/usr/bin:/bin; git commit -q --allow-empty -m alone 2>&1")
			if exit != 0 || !strings.Contains(said, "liza: warning: git-liza does not answer") {
				t.Errorf("exit %d\n%s", exit, said)
			}
		})
	}
}

// TestOverwrittenHooks: an installer run in an agent's worktree overwrites Liza's hooks. The next
// commit is refused, and the hooks are restored for the one after it.
func TestOverwrittenHooks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.committed("parse.txt")
	for name, overwritten := range map[string]string{
		"all that commits run": "pre-commit commit-msg prepare-commit-msg post-commit pre-push",
		"the trailers alone":   "commit-msg",
	} {
		t.Run(name, func(t *testing.T) {
			before := s.refs()
			s.ok("coder-1", parse, "for hook in "+overwritten+"; do printf '#!/bin/sh\\nexit 0\\n' >\"$(git config core.hooksPath)/$hook\"; done")
			said, exit := s.sh("coder-1", parse, "git commit -q --allow-empty -m 'Write more'")
			if strings.Contains(overwritten, "pre-commit") && (exit == 0 || !strings.Contains(said, "so nothing has checked this") || !strings.Contains(said, "run the same command again") || s.refs() != before) {
				t.Errorf("exit %d\n%s", exit, said)
			}
			if exit != 0 {
				s.ok("coder-1", parse, "git commit -q --allow-empty -m 'Write more'")
			}
			testrun.Contains(t, s.ok("", parse, "git log -1 --format=%B"), "Write more\n\nLiza-Task: parse\nLiza-Agent: coder-1\n", "no trailers")
		})
	}
	s.must("coder-1", "submit", "parse")
	s.proven()
}

// TestPushesIntoAClone: a push into a clone moves none of the board's refs there. Git passes an
// agent's environment, and with it the hooks, to no repository that it pushes to, so the clone has
// to refuse by itself.
func TestPushesIntoAClone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.committed("parse.txt")
	s.ok("", "", "git update-ref refs/liza/review/parse/9 integration && git clone -q . ../other && git -C ../other commit -q --allow-empty -m elsewhere")
	const other = "../other"
	for _, c := range []struct{ name, agent, dir, script string }{
		{"integration, by the project's path", "coder-1", parse, `git push --no-verify "$(dirname "$PWD")/.." HEAD:integration`},
		{"integration and the board together", "coder-1", parse, "git push --no-verify --atomic ../.. HEAD:integration liza/state~1:refs/heads/liza/state"},
		{"the board", "coder-1", parse, "git push --no-verify ../.. HEAD:refs/heads/liza/state"},
		{"a submission", "coder-1", parse, "git push --no-verify --force ../.. HEAD:refs/liza/review/parse/9"},
		{"another's branch, by its worktree", "coder-1", parse, "git push --no-verify --force ../print HEAD:task/print"},
		{"by a clone of the agent's own", "coder-1", parse, "git clone -q ../.. ../../../own && cd ../../../own && git commit -q --allow-empty -m mine && git push -q origin HEAD:integration; e=$?; rm -rf ../own; exit $e"},
		{"an object in another's place", "coder-1", parse, "git push --no-verify ../.. HEAD:refs/replace/$(git rev-parse integration)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := s.refs()
			if said, exit := s.sh(c.agent, c.dir, c.script); exit == 0 || !strings.Contains(said, " a hidden ref)") {
				t.Errorf("exit %d\n%s", exit, said)
			}
			testrun.Equal(t, s.refs(), before, "it changed")
		})
	}
	// A human's own branches and tags are accepted as before, and clones still see every ref.
	s.ok("", other, "git push -q origin HEAD:refs/heads/human HEAD:refs/tags/v1 && git fetch -q origin && git rev-parse -q --verify origin/integration && git ls-remote --exit-code origin refs/liza/review/parse/9")
	s.must("", "verify")
}

// newServer makes a site that shares its board by a bare repository with the lock on.
func newServer(t *testing.T) *site {
	t.Helper()
	return &site{prepared(t, "server", t.TempDir(), func(p *project) {
		p.occupied()
		(&site{p}).ok("", "", "git init -q --bare -b main ../server.git && git-liza -C ../server.git hooks install --server && git remote add origin \"$PWD/../server.git\" && git push -q origin main && git-liza share origin")
	})}
}

// bypass writes a commit on the board with plain git: $1 is the file, $2 the sed script for its
// text.
const bypass = `forge() {
	export GIT_INDEX_FILE="$(git rev-parse --absolute-git-dir)/forged"
	git read-tree liza/state
	blob=$(git cat-file blob "liza/state:$1" | sed "$2" | git hash-object -w --stdin)
	git update-index --add --cacheinfo "100644,$blob,$1"
	tree=$(git write-tree); rm "$GIT_INDEX_FILE"; unset GIT_INDEX_FILE
}
`

// TestAttacksOnAServer: the server's hooks refuse what has bypassed those of a clone, and where a
// server has none, verify reports it. Each script begins with an up-to-date clone, and its changes
// to that clone are undone.
func TestAttacksOnAServer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.must("", "note", "hello")
	s.must("coder-2", "heartbeat")
	server := func() string { return s.ok("", "", "git -C ../server.git for-each-ref") }
	const off = "git -c core.hooksPath=/dev/null "
	for _, c := range []struct {
		name, script, rule string
		verify             string // what verify reports for the clone, "" for nothing
	}{
		{"the hooks of a clone bypassed", "git update-ref refs/heads/integration $(git commit-tree -p integration -m sneak integration^{tree}) && " + off + "push origin integration",
			"nothing on the board records that integration moves", ""}, // for verify, see unrecorded.txtar
		{"YAML edited by hand", bypass + `forge goals/goal-1.yaml 's/A goal/Another/'; c=$(git commit-tree -p liza/state -m 'by hand' $tree); git update-ref refs/heads/liza/state $c; git push origin liza/state`,
			"by hand: it carries no operation", "carries no operation"},
		{"YAML edited under an operation's words", bypass + `forge goals/goal-1.yaml 's/A goal/Another/'; c=$(git cat-file commit liza/state | sed '1,/^$/d' | sed 's/^Liza-Request: .*/Liza-Request: other/' | git commit-tree -p liza/state $tree); git update-ref refs/heads/liza/state $c; git push origin liza/state`,
			"is not the operation's", "the tree is not what the operation leads to"},
		{"good and bad together", "git push origin main:good :liza/state", "is not deleted", ""},
		{"a mirror", "git push --mirror origin", "one clone's own", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, local := server(), s.ok("", "", "git for-each-ref --format='update %(refname) %(objectname)'")
			s.ok("", "", "git update-ref refs/heads/origin-note liza/state")
			said, exit := s.sh("", "", c.script)
			if exit == 0 || !strings.Contains(said, "liza: ") || !strings.Contains(said, c.rule) {
				t.Errorf("exit %d\n%s", exit, said)
			}
			testrun.Equal(t, server(), before, "it changed")
			if c.verify != "" {
				if out, _, _ := s.inside("verify"); !strings.Contains(out, c.verify) {
					t.Errorf("verify says\n%s", out)
				}
			}
			s.ok("", "", "rm -f .git/forged; git for-each-ref --format='delete %(refname)' | grep -v refs/remotes/ | "+off+"update-ref --no-deref --stdin")
			s.ok("", "", off+"update-ref --no-deref --stdin <<'REFS'\n"+local+"REFS\n")
			s.ok("", print, off+"checkout -q -f task/print -- && "+off+"reset -q --hard task/print && git clean -fdq")
		})
	}
	// Nothing of the refused pushes is kept, and refs that Liza does not own can be pushed.
	if said := s.ok("", "", "git -C ../server.git count-objects -vH; ls ../server.git/objects | grep -c tmp || true"); strings.Contains(said, "MiB") {
		t.Errorf("the server has kept\n%s", said)
	}
	s.ok("", "", "git push -q origin main:feature && git push -q -f origin integration:feature && git push -q origin :feature && git tag v1 && git push -q origin v1 && git -C ../server.git gc -q && git -C ../server.git pack-refs --all")
	s.must("", "note", "good bye")
	s.proven()
	s.ok("", "", "git-liza -C ../server.git verify")
}

// TestLostServer: where a locked server has lost the board's ref, no push begins another board
// there or moves integration, every clone says how the board comes back, and it comes back.
func TestLostServer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.must("", "note", "hello")
	s.ok("", "", "git -C ../server.git -c core.hooksPath=/dev/null update-ref -d refs/heads/liza/state")
	for name, c := range testrun.Some(2, map[string]struct{ script, says string }{
		"another board":          {`evil=$(git -C ../fresh commit-tree -p origin/integration -m evil origin/integration^{tree}); git -C ../fresh push --atomic origin liza/state $evil:refs/heads/integration`, "the pushed branch is another board"},
		"another, without lands": {`git -C ../fresh push origin liza/state`, "the pushed branch is another board"},
		"integration":            {`git push origin $evil:refs/heads/integration`, "nothing on the board records"},
		"the board's remains":    {`git push --atomic origin liza/state $evil:refs/heads/integration`, "nothing on the board records"},
		"init":                   {`rm -rf ../late && git clone -q ../server.git ../late && cd ../late && git liza init "Second goal"`, "origin has lost its board"},
		"share":                  {`cd ../fresh && git liza share origin`, "origin has lost its board"},
		"a note":                 {"git liza note on", "git push origin liza/state"},
		"doctor":                 {"git liza doctor", "git push origin liza/state"},
	}) {
		said, exit := s.sh("", "", `[ -d ../fresh ] || { git clone -q ../server.git ../fresh && git -C ../fresh config user.name Eve && git -C ../fresh config user.email eve@example.com && git-liza -C ../fresh init --alone "Second goal"; } >/dev/null
			evil=$(git commit-tree -p integration -m evil integration^{tree}); `+c.script)
		if exit == 0 || !strings.Contains(said, c.says) {
			t.Errorf("%s: exit %d\n%s", name, exit, said)
		}
		if refs := s.ok("", "", "git -C ../server.git for-each-ref"); strings.Contains(refs, "liza/state") || !strings.Contains(refs, s.ok("", "", "git rev-parse integration")[:40]+" commit\trefs/heads/integration") {
			t.Errorf("%s: the server has\n%s", name, refs)
		}
	}
	s.ok("", "", "git push -q origin liza/state")
	s.must("", "note", "good bye")
	s.must("", "doctor")
	s.proven()
}
