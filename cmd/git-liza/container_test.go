//go:build linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// smallImage builds an image of a shell, git and little else from programs of this machine.
func smallImage(t *testing.T) string {
	t.Helper()
	full(t)
	if _, err := exec.LookPath("podman"); err != nil {
		t.Skip("podman is not installed: what runs in a container is not tested")
	}
	root, paths := t.TempDir(), regexp.MustCompile(`/[^ ()]+`)
	add := func(file, as string) {
		t.Helper()
		data, err := os.ReadFile(file)
		to := filepath.Join(root, as)
		testrun.Check(t, errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755), testrun.WriteProgram(to, string(data))))
	}
	self := testrun.Must(os.Executable())(t)
	files := []string{self}
	for _, name := range strings.Fields("sh git cat sed env mkdir rm mv sleep") {
		file := testrun.Must(exec.LookPath(name))(t)
		add(file, "bin/"+name)
		files = append(files, file)
	}
	for _, file := range files {
		needs, _ := exec.Command("ldd", file).Output() // empty for a static program
		for _, library := range paths.FindAllString(string(needs), -1) {
			add(library, library)
		}
	}
	testrun.Check(t, os.MkdirAll(filepath.Join(root, "tmp"), 0o777))
	name := "liza-test-" + strings.ToLower(filepath.Base(filepath.Dir(root)))
	if out, err := exec.Command("sh", "-c", `tar -C "$0" -c . | podman import -q - "$1"`, root, name).CombinedOutput(); err != nil {
		t.Skipf("podman makes no image here: %v\n%s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("podman", "rmi", "-f", name).Run() })
	if out, err := exec.Command("podman", "run", "--rm", name, "sh", "-c", "exit 0").CombinedOutput(); err != nil {
		t.Skipf("podman runs no container here: %v\n%s", err, out)
	}
	return name
}

// TestContainer: an agent in a container commits and submits, sees its worktree, the git directory
// and no other file of its user, and ends with its supervisor.
func TestContainer(t *testing.T) {
	t.Parallel()
	image := smallImage(t)
	p := newProject(t)
	p.git("config", "user.name", "Ann")
	p.git("config", "user.email", "ann@example.com")
	p.addTask("alpha")
	p.addTask("beta")
	hidden := filepath.Join(t.TempDir(), "secret")
	testrun.Check(t, os.WriteFile(hidden, nil, 0o644))
	s := p.supervise("agent", "coder", "--once", "--container", image, "--exec=test ! -e '"+hidden+"' || exit 9\n"+submits)
	s.ends(0)
	p.stands("alpha", "READY_FOR_REVIEW")

	s = p.supervise("agent", "coder", "--container", image, "--exec=echo begun >began.txt; exec sleep 1000")
	p.appears(filepath.Join(p.dir, ".worktrees", "beta", "began.txt"))
	s.stops()
	if left, err := exec.Command("podman", "ps", "-q", "--filter", "name=liza-coder-1").CombinedOutput(); err != nil || strings.TrimSpace(string(left)) != "" {
		t.Errorf("its container is left: %v %s", err, left)
	}
	p.proven()
}

// engine replaces podman: what it runs receives no signal that is sent to its client.
const engine = `#!/bin/sh
case $1 in
run) : >"$STARTED"; exec sleep 1000 ;;
kill) echo "$2" >"$KILLED" ;;
esac
`

// TestContainerIsEnded: ending a run ends its container even when the client that started it can't.
func TestContainerIsEnded(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("alpha")
	bin := t.TempDir()
	testrun.Check(t, testrun.WriteProgram(filepath.Join(bin, "podman"), engine))
	started, killed := filepath.Join(bin, "started"), filepath.Join(bin, "killed")
	p.env = append(p.env, "PATH="+bin+":"+os.Getenv("PATH"), "STARTED="+started, "KILLED="+killed)
	s := p.supervise("agent", "coder", "--container", "agents:1", "--exec=true")
	p.appears(started)
	s.stops()
	if name, err := os.ReadFile(killed); err != nil || !strings.HasPrefix(string(name), "liza-coder-1-") {
		t.Errorf("killed %q: %v", name, err)
	}
	p.proven()
}

// mounts replaces podman: it runs the command with the mounts of its container, and with nothing else of
// one.
const mounts = `#!/bin/sh
[ "$1" = run ] || exit 0
[ "$INSIDE" ] || { export INSIDE=1; exec unshare --mount "$0" "$@"; }
while shift; do case $1 in
--volume) shift; at=${1%%:*}; mount --bind "$at" "$at" && case $1 in *:ro) mount -o remount,bind,ro "$at" ;; esac || exit 7 ;;
--env|--user|--name|--security-opt|--userns) shift ;;
--workdir) shift; cd "$1" || exit 7 ;;
agents:1) shift; exec "$@" ;;
esac; done
`

// breaksOut writes a program to each place by which git outside may be made to run it, and succeeds if
// the mounts refuse it.
const breaksOut = `
common=$(git rev-parse --path-format=absolute --git-common-dir) own=$(git rev-parse --path-format=absolute --git-dir)
printf '#!/bin/sh\necho "$0 $*" >>"%s"\ncat\n' "$RAN" >evil.sh && chmod +x evil.sh
set -- filter.evil.clean filter.evil.smudge core.fsmonitor diff.external merge.evil.driver alias.status
for key; do git config $key "$PWD/evil.sh" 2>/dev/null && echo "$key" >>"$RAN"; done
for file in config info/attributes hooks/post-checkout hooks/reference-transaction liza/hooks/gitconfig liza/agents/x; do
  echo >>"$common/$file" && echo "$file" >>"$RAN"
done 2>/dev/null
for place in . config hooks info; do mv "$common/$place" "$common/../moved" && echo "$place is moved" >>"$RAN"; done 2>/dev/null
git config --file "$common/evil/config" core.bare false 2>/dev/null || { mkdir "$common/evil" && cp "$common/config" "$common/evil/config"; }
for name in objects refs liza worktrees packed-refs; do ln -s "$common/$name" "$common/evil/$name"; done; cp "$common/HEAD" "$common/evil/HEAD"
for key; do git config --file "$common/evil/config" $key "$PWD/evil.sh"; done
echo '* filter=evil merge=evil diff=evil' >.gitattributes
git config --file "$own/config.worktree" core.fsmonitor "$PWD/evil.sh"
touch -d 2001-01-01 *
` + "BECOMES"

// TestContainersReach: an agent that writes whatever its container lets it write has no program run
// outside of it.
func TestContainersReach(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespace can be made here: %v %s", err, out)
	}
	for name, becomes := range map[string]string{
		"its record leads to another directory": `echo "$common/evil" >"$own/commondir"`,
		"its worktree is another repository":    `rm .git && cp -R "$common/evil" .git`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			bin, ran := t.TempDir(), filepath.Join(t.TempDir(), "ran")
			testrun.Check(t, testrun.WriteProgram(filepath.Join(bin, "podman"), mounts))
			p.env = append(p.env, "PATH="+bin+":"+os.Getenv("PATH"), "RAN="+ran)
			p.addTask("alpha")
			s := p.supervise("agent", "coder", "--once", "--container", "agents:1", "--exec="+strings.ReplaceAll(breaksOut, "BECOMES", becomes))
			<-s.over
			if text, err := os.ReadFile(filepath.Join(p.dir, ".git", "evil", "config")); !strings.Contains(string(text), "evil.sh") {
				t.Errorf("it wrote nothing: %v", err)
			}
			for _, args := range []string{"worktree status alpha", "doctor --fix", "recover-task alpha --force", "worktree delete alpha"} {
				p.liza("", strings.Fields(args)...)
			}
			if text, err := os.ReadFile(ran); err == nil {
				t.Errorf("it reached\n%s", text)
			}
		})
	}
}
