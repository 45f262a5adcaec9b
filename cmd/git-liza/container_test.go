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
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755), testrun.WriteProgram(to, string(data))); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	files := []string{self}
	for _, name := range strings.Fields("sh git cat sed env mkdir rm mv sleep") {
		file, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		add(file, "bin/"+name)
		files = append(files, file)
	}
	for _, file := range files {
		needs, _ := exec.Command("ldd", file).Output() // empty for a static program
		for _, library := range paths.FindAllString(string(needs), -1) {
			add(library, library)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "tmp"), 0o777); err != nil {
		t.Fatal(err)
	}
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
	if err := os.WriteFile(hidden, nil, 0o644); err != nil {
		t.Fatal(err)
	}
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
	if err := testrun.WriteProgram(filepath.Join(bin, "podman"), engine); err != nil {
		t.Fatal(err)
	}
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
