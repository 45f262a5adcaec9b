package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A project is a real repository with a board, driven by real processes.
type project struct {
	t   *testing.T
	dir string
	env []string
}

// newProject makes a repository with one commit and a board, in a directory with a space and an umlaut.
func newProject(t *testing.T) *project {
	t.Helper()
	p := newRepository(t)
	p.must("", "init", "A goal")
	return p
}

// newRepository is newProject before there is a board.
func newRepository(t *testing.T) *project {
	t.Helper()
	p := &project{t: t, dir: filepath.Join(t.TempDir(), "möbel haus")}
	p.env = append(os.Environ(),
		"HOME="+t.TempDir(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com")
	if err := os.MkdirAll(filepath.Join(p.dir, "specs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "specs", "vision.md"), []byte("# Vision\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.git("init", "-q", "-b", "main")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "first")
	return p
}

func (p *project) run(agent, name string, args ...string) (string, string, int) {
	cmd := exec.Command(name, args...)
	cmd.Dir = p.dir
	cmd.Env = p.env
	if agent != "" {
		cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "LIZA_AGENT_ID="+agent)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		p.t.Errorf("%s: %v", name, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func (p *project) liza(agent string, args ...string) (string, string, int) {
	return p.run(agent, "git-liza", args...)
}

func (p *project) must(agent string, args ...string) string {
	p.t.Helper()
	out, errs, code := p.liza(agent, args...)
	if code != 0 {
		p.t.Fatalf("git liza %s: exit %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

func (p *project) git(args ...string) string {
	p.t.Helper()
	out, errs, code := p.run("", "git", args...)
	if code != 0 {
		p.t.Fatalf("git %s: exit %d\n%s", strings.Join(args, " "), code, errs)
	}
	return out
}

// proven ends a test: the history verifies, the board is valid, and git finds nothing broken.
func (p *project) proven() {
	p.t.Helper()
	p.must("", "verify")
	p.must("", "validate")
	if out, errs, code := p.run("", "git", "fsck", "--full"); code != 0 || strings.Contains(errs, "error") || strings.Contains(out, "missing") {
		p.t.Errorf("git fsck: exit %d\n%s%s", code, out, errs)
	}
}

func (p *project) addTask(id string) {
	p.t.Helper()
	p.must("", "add-task", "--id", id, "--desc", "Do "+id, "--spec", "specs/vision.md", "--done", "x prints y", "--scope", "IN: x", "--ready")
}

// set sets settings of the board: "key value" each.
func (p *project) set(settings ...string) {
	p.t.Helper()
	for _, s := range settings {
		key, value, _ := strings.Cut(s, " ")
		p.must("", "config", "set", key, value)
	}
}

func (p *project) write(path, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, filepath.FromSlash(path)), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// at sets the clock.
func (p *project) at(now time.Time) {
	p.env = append(slices.Clip(p.env), "LIZA_TEST_NOW="+now.Format(time.RFC3339))
}
