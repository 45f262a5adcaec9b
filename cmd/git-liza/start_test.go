//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// greeter is an agent CLI that plans, writes and reviews a task for each goal. The task of the
// first goal writes hello.sh.
const greeter = `#!/bin/sh
[ "$1" != auth ] || exit 0
cat >"$HOME/prompt-$LIZA_AGENT_ID"
field() { sed -n "s/^$1: //p" "$HOME/prompt-$LIZA_AGENT_ID"; }
goal=$(git liza goal list --json | grep -o '"id":"goal-[0-9]*"' | tail -1 | cut -d'"' -f4)
case $LIZA_AGENT_ID in
planner*)
	if git liza show write-$goal >/dev/null 2>&1; then
		git liza goal complete $goal
	else
		git liza add-task --id write-$goal --goal $goal --desc "Greet" --spec specs/vision.md --done "sh hello.sh Ann prints Hello, Ann!" --scope "IN: hello.sh"
		git liza finalize write-$goal
	fi ;;
coder*)
	git liza pre-exec $(field 'TASK ID') --intent "write hello.sh" --validation "sh hello.sh Ann" --file hello.sh
	echo 'echo "Hello, $1!"' >hello.sh
	echo "# $goal" >>hello.sh
	git add . && git commit -qm "Greet by name"
	git liza submit $(field 'TASK ID') --no-tests-because "check.sh tests it" ;;
code-reviewer*)
	git liza verdict $(field 'TASK ID') APPROVED --checked tests --commit $(field 'REVIEW COMMIT') ;;
esac
`

// newcomer is a repository of somebody else, where greeter is installed as claude and nothing else
// is known.
func newcomer(t *testing.T) *project {
	t.Helper()
	full(t)
	top := t.TempDir()
	p := &project{t: t, dir: filepath.Join(top, "theirs"), env: os.Environ()}
	home, bin := filepath.Join(top, "home"), filepath.Join(top, "bin")
	for _, dir := range []string{p.dir, home, bin} {
		testrun.Check(t, os.Mkdir(dir, 0o755))
	}
	testrun.Check(t, os.WriteFile(filepath.Join(bin, "claude"), []byte(greeter), 0o755))
	own, err := exec.LookPath("git-liza")
	if err == nil {
		err = os.Symlink(own, filepath.Join(bin, "git-liza"))
	}
	testrun.Check(t, err)
	p.env = append(p.env, "HOME="+home, "PATH="+bin+string(os.PathListSeparator)+p.getenv("PATH"), "GIT_CONFIG_GLOBAL="+filepath.Join(home, ".gitconfig"), "DISPLAY=", "WAYLAND_DISPLAY=")
	p.git("init", "-q", "-b", "main")
	return p
}

// TestStart: the README's one command leads from somebody else's repository, with an empty home, to
// merged work, and writes nothing in the worktree.
func TestStart(t *testing.T) {
	t.Parallel()
	p := newcomer(t)
	p.write("Makefile", "test:\n\tsh check.sh\n")
	p.write("check.sh", "test ! -e hello.sh || sh hello.sh Ann | grep -q Ann\n")
	for i := range 98 {
		p.write(fmt.Sprintf("part%02d.txt", i), "theirs\n")
	}
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "theirs")
	if files, err := os.ReadDir(p.getenv("HOME")); err != nil || len(files) > 0 {
		t.Fatalf("the home has %v, %v", files, err)
	}
	out, errs, code := p.run("", "bash", "-c", startOfTheReadme(t)+" --yes")
	if code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	for _, want := range []string{
		`(?m)^unattended: nobody reviews the plan`, `(?m)^specification  specs/vision.md, the goal's text`, `(?m)^test           make test$`, `(?m)^agents         claude; `,
		`(?m)^web board      http://127\.0\.0\.1:\d+/\?token=`, `\nthe goal is COMPLETED: 1 MERGED\nyour code: integration is 2 commits ahead of main: git merge integration\n$`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s is missing in:\n%s", want, out)
		}
	}
	testrun.Equal(t, p.git("status", "--short"), "", "the worktree has changed")
	if page, err := os.ReadFile(filepath.Join(p.dir, "../share/man/man1/git-liza-claim.1")); err != nil || !strings.Contains(string(page), "take a task") {
		t.Errorf("the manual page is %q, %v", page, err)
	}
	if _, err := exec.LookPath("man"); err == nil {
		testrun.Contains(t, p.git("-c", "man.viewer=man", "-c", "core.pager=cat", "liza", "--help"), "git liza claim", "git liza --help shows")
	}
	p.git("merge", "-q", "integration")
	if spec, err := os.ReadFile(filepath.Join(p.dir, "specs/vision.md")); string(spec) != "# A program that greets\n" {
		t.Errorf("the specification is %q, %v", spec, err)
	}
	out = p.must("", "start", "--yes", "--no-web", "Greet dogs, too")
	if !strings.Contains(out, "specification  specs/goal-2.md") || !strings.Contains(out, "goal-2 is COMPLETED") {
		t.Errorf("a further goal:\n%s", out)
	}
	p.proven()
}

// TestStartRefused: start begins nothing that can't be finished.
func TestStartRefused(t *testing.T) {
	t.Parallel()
	p := newcomer(t)
	refused := func(code int, wants ...string) {
		t.Helper()
		out, errs, got := p.liza("", "start", "Greet")
		if got != code || out != "" {
			t.Errorf("exit %d: %s", got, out)
		}
		for _, want := range wants {
			if !strings.Contains(errs, want) {
				t.Errorf("%q is missing in %s", want, errs)
			}
		}
		testrun.Equal(t, p.git("for-each-ref", "refs/liza", "refs/heads/liza"), "", "it has begun")
	}
	refused(1, "no commit yet", "hint: git commit --allow-empty")
	p.git("commit", "-q", "--allow-empty", "-m", "first")
	p.write("specs/vision.md", "# Vision\n")
	refused(1, "specs/vision.md is not committed", "hint: git add specs/vision.md")
	few := t.TempDir()
	for _, program := range []string{"git", "git-liza", "sh"} {
		at, err := exec.LookPath(program)
		if err == nil {
			err = os.Symlink(at, filepath.Join(few, program))
		}
		testrun.Check(t, err)
	}
	p.env = append(p.env, "PATH="+few)
	refused(5, "no agent CLI is installed", "--exec 'COMMAND'")
	p.env = append(p.env, "LIZA_AGENT_ID=coder-1")
	refused(1, "acts as the human")

	// A team that runs here needs no other agent: it takes the goal.
	p.env = append(p.env, "LIZA_AGENT_ID=")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "The specification")
	p.must("", "init", "Greet")
	team := p.supervise("agent", "coder", "--exec=true")
	team.hears("waiting", "")
	testrun.Contains(t, p.must("", "start", "Part", "--yes"), "the team that runs here takes it", "start")
	team.stops()
}

// TestStartAsks: on a terminal start asks for what is missing, shows the plan, and takes an answer
// to the planner.
func TestStartAsks(t *testing.T) {
	t.Parallel()
	p := newcomer(t)
	s := p.onTerminal(pty.Winsize{Rows: 40, Cols: 100}, nil, "git-liza", "start", "--no-open")
	s.said("no commit yet. Make an empty first one? [Y/n] ")
	s.press("\r")
	s.said("What should be built? ")
	s.press("Greet people by name\r")
	s.said("The command that tests merged work (Enter for none: work lands untested): ")
	s.press("\x03")
	<-s.ended
	s = p.onTerminal(pty.Winsize{Rows: 40, Cols: 100}, nil, "git-liza", "start", "--no-open")
	s.said("This project shows no test. The command") // again, since it had no answer
	s.press("y\r")
	s.said("A command, as make test, or Enter for none: ")
	s.press("sh -n hello.sh\r")
	s.said("Enter starts the work on 1 task; or write what should change: ")
	s.press("\r")
	s.said("your code: integration is 2 commits ahead of main: git merge integration")
	testrun.ErrorIs(t, <-s.ended, nil, "it ends")
	testrun.Equal(t, p.reads("config", "get", "integration_test"), "sh -n hello.sh\n", "the test is")
	p.proven()
}

// TestTeamWithoutASpec: where nobody wrote a specification, a team begins with the goal's text, and a
// file that is committed later counts.
func TestTeamWithoutASpec(t *testing.T) {
	t.Parallel()
	p := newcomer(t)
	p.git("commit", "-q", "--allow-empty", "-m", "theirs")
	p.must("", "init", "--unattended", "Greet people by name")
	if inbox := p.must("", "inbox"); !strings.Contains(strings.Join(strings.Fields(inbox), " "), "no planner is started without a specification, and integration has no specs/vision.md") || !strings.Contains(inbox, "git liza start") {
		t.Errorf("the inbox:\n%s", inbox)
	}
	out, errs, code := p.inside("write", "goals.goal-1.spec_ref", "specs/none.md")
	if code != 1 || !strings.Contains(errs, `"specs/none.md" is not a file on the integration branch`) {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	p.write("specs/vision.md", "# Vision\n")
	if _, errs, code := p.liza("", "team"); code != 1 || !strings.Contains(errs, "specs/vision.md is not committed") || !strings.Contains(errs, "then git liza team") {
		t.Errorf("exit %d: %s", code, errs)
	}
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "the vision")
	team := p.start(false, "team")
	team.until("the specification", func(line string) bool { return line == "specification  specs/vision.md" })
	team.until("its planner", func(line string) bool { return strings.Contains(line, "started: INITIAL_PLANNING") })
	team.signal(syscall.SIGTERM)
	team.exits(1)
	p.proven()
}

// plainly describes what a repository holds besides its branches: its settings, ignored files,
// worktrees, and refs and directories of other programs.
func plainly(p *project) string {
	p.t.Helper()
	var about []string
	for _, name := range []string{".git/config", ".git/info/exclude"} {
		data := testrun.Must(os.ReadFile(filepath.Join(p.dir, name)))(p.t)
		about = append(about, string(data))
	}
	for _, dir := range []string{".", ".git", ".git/hooks"} {
		entries := testrun.Must(os.ReadDir(filepath.Join(p.dir, dir)))(p.t)
		for _, e := range entries {
			if !slices.Contains([]string{"COMMIT_EDITMSG", "FETCH_HEAD", "ORIG_HEAD", "index", "logs", "packed-refs"}, e.Name()) {
				about = append(about, dir+"/"+e.Name())
			}
		}
	}
	about = append(about, p.git("for-each-ref", "--format=%(refname)", "refs"), p.git("worktree", "list", "--porcelain"))
	return strings.ReplaceAll(strings.ReplaceAll(strings.Join(about, "\n"), p.dir, "DIR"), p.git("rev-parse", "HEAD"), "HEAD")
}

// TestUninstall: a repository that git liza leaves is as one that never had it, but for integration
// and, with --keep, branches of unmerged work. A person's worktree at the place of a task's stays.
func TestUninstall(t *testing.T) {
	t.Parallel()
	p := newRepository(t)
	p.git("remote", "add", "origin", bareHub(p))
	p.git("branch", "integration")
	p.git("push", "-q", "origin", "main", "integration")
	control := &project{t: t, dir: filepath.Join(t.TempDir(), "control"), env: p.env}
	testrun.Check(t, copyTree(p.dir, control.dir, func(_ string, data []byte) []byte { return data }))
	p.must("", "init", "--unattended", "A goal")
	p.must("", "share", "origin")
	p.approved("alpha", map[string]string{"alpha.txt": "alpha\n"})
	p.must("code-reviewer-1", "merge", "alpha")
	theirs := filepath.Join(".worktrees", "alpha")
	for _, of := range []*project{p, control} {
		of.git("worktree", "add", "-q", "-b", "mine", theirs)
	}
	p.must("", "uninstall", "--yes")
	if got, want := plainly(p), plainly(control); got != want {
		t.Errorf("after uninstall:\n%s\nwant:\n%s", got, want)
	}
	control.git("worktree", "remove", theirs)
	control.git("branch", "-q", "-D", "mine")
	testrun.Check(t, os.Remove(filepath.Join(control.dir, ".worktrees")))
	p.must("", "uninstall", "--yes") // again, as after an interruption

	p = &project{t: t, dir: filepath.Join(t.TempDir(), "alone"), env: p.env}
	testrun.Check(t, copyTree(control.dir, p.dir, func(_ string, data []byte) []byte { return data }))
	p.must("", "init", "--unattended", "--alone", "--agents", "A goal")
	p.begun("beta")
	refused := func(want string, args ...string) {
		t.Helper()
		if out, errs, code := p.inside(append([]string{"uninstall"}, args...)...); code != 1 || !strings.Contains(errs, want) {
			t.Errorf("exit %d: %s%s", code, out, errs)
		}
	}
	refused("work is not merged: beta\nhint: to keep it in branches like kept/beta/1: git liza uninstall --keep", "--yes")
	refused("it takes --yes\nhint: git liza export --log FILE", "--keep")
	if out := p.must("", "uninstall", "--keep", "--yes"); out != "removed: the board, its refs and worktrees, hooks and settings\nthe branch integration stays\nthe branch kept/beta/1 stays\n" {
		t.Error(out)
	}
	for name, text := range halfDone {
		testrun.Equal(t, p.git("show", "kept/beta/1:"+name), text, "%s is", name)
	}
	p.git("branch", "-q", "-D", "kept/beta/1")
	if got, want := plainly(p), plainly(control); got != want {
		t.Errorf("after uninstall --keep:\n%s\nwant:\n%s", got, want)
	}
}
