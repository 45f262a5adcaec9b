package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// A project is a real repository with a board, driven by real processes.
type project struct {
	t   *testing.T
	dir string
	env []string
}

// house is the directory of a project: its name has a space and an umlaut.
const house = "möbel haus"

// newProject makes a repository with one commit and a board.
func newProject(t *testing.T) *project {
	t.Helper()
	return newProjectIn(t, t.TempDir())
}

// newProjectIn is newProject below a given directory.
func newProjectIn(t *testing.T, dir string) *project {
	t.Helper()
	return prepared(t, "project", dir, (*project).founded)
}

// founded makes a project's repository and its board.
func (p *project) founded() {
	p.t.Helper()
	p.begin()
	p.must("", "init", "--unattended", "A goal")
}

// newRepository is newProject without the board.
func newRepository(t *testing.T) *project {
	t.Helper()
	full(t)
	p := &project{t: t, dir: filepath.Join(t.TempDir(), house), env: os.Environ()}
	p.begin()
	return p
}

// begin makes the repository and its first commit.
func (p *project) begin() {
	p.t.Helper()
	p.write("specs/vision.md", "# Vision\n")
	p.git("init", "-q", "-b", "main")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "first")
}

// inShort lists what -short keeps of the tests that start the program: the README's commands, a
// task's whole life, a race, and a table of refusals.
var inShort = []string{"TestSessions/README.md", "TestScripts/lifecycle", "TestSixteenProcessesClaimOneTask", "TestScripts/human-only"}

// full skips a test with -short, except those of inShort.
func full(t *testing.T) {
	t.Helper()
	if testing.Short() && !slices.Contains(inShort, t.Name()) {
		t.Skip("left out with -short")
	}
}

// longest is how long a test waits for an event before it fails. It only ends a test that hangs: a
// machine may be slow and busy.
const longest = 5 * time.Minute

var preparing struct {
	sync.Mutex
	dirs map[string]string
}

// prepared copies a project, with what lies around it, to a directory. The first test that needs it
// makes it.
func prepared(t *testing.T, name, to string, make func(p *project)) *project {
	t.Helper()
	full(t)
	preparing.Lock()
	defer preparing.Unlock()
	if preparing.dirs == nil {
		preparing.dirs = map[string]string{}
	}
	from, made := preparing.dirs[name]
	if !made {
		from = filepath.Join(shared, name)
		make(&project{t: t, dir: filepath.Join(from, house), env: os.Environ()})
		preparing.dirs[name] = from
	}
	testrun.Check(t, copyTree(from, to, func(_ string, data []byte) []byte {
		return bytes.ReplaceAll(data, []byte(from), []byte(to))
	}))
	return &project{t: t, dir: filepath.Join(to, house), env: os.Environ()}
}

// copyTree copies a directory with the modes and times of its files. Git's objects, which nobody
// changes, are hard links where possible; every other file's content, which may contain the
// directory's name, goes through content.
func copyTree(from, to string, content func(path string, data []byte) []byte) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := to + strings.TrimPrefix(path, from)
		info, err := e.Info()
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return os.MkdirAll(at, info.Mode().Perm())
		case e.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			return errors.Join(err, os.Symlink(string(content(path, []byte(target))), at))
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is neither a file nor a directory", path)
		case strings.Contains(path, objects) && os.Link(path, at) == nil:
			return nil // else it is on another disk
		}
		data, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(at, content(path, data), info.Mode().Perm()), os.Chtimes(at, info.ModTime(), info.ModTime()))
	})
}

// objects is the part of a path that is in a directory of git's objects.
const objects = "git" + string(filepath.Separator) + "objects" + string(filepath.Separator)

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

// inside is liza within this process, which saves starting one.
func (p *project) inside(args ...string) (string, string, int) { return p.insideAs("", args...) }

func (p *project) insideAs(agent string, args ...string) (string, string, int) {
	environ := slices.Clip(p.env)
	if agent != "" {
		environ = append(environ, "LIZA_AGENT_ID="+agent)
	}
	var out, errs bytes.Buffer
	code, err := inWithin(context.Background(), p.dir, environ, &out, &errs, args)
	if err != nil {
		p.t.Error(err)
	}
	return out.String(), errs.String(), code
}

func (p *project) getenv(key string) string {
	for _, entry := range slices.Backward(p.env) {
		if value, is := strings.CutPrefix(entry, key+"="); is {
			return value
		}
	}
	return ""
}

// reads is must for commands that only read.
func (p *project) reads(args ...string) string {
	p.t.Helper()
	out, errs, code := p.inside(args...)
	if code != 0 {
		p.t.Fatalf("git liza %s: exit %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

func (p *project) liza(agent string, args ...string) (string, string, int) {
	return p.run(agent, "git-liza", args...)
}

// must runs a command that succeeds. It is a process only if the command needs one or the
// environment names other programs; where a process matters to a test, the test calls liza.
func (p *project) must(agent string, args ...string) string {
	p.t.Helper()
	run := p.insideAs
	if always(args) || p.getenv("PATH") != os.Getenv("PATH") {
		run = p.liza
	}
	out, errs, code := run(agent, args...)
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

// proven ends a test: the history verifies, the board is valid, and git fsck finds nothing broken.
func (p *project) proven() {
	p.t.Helper()
	p.reads("verify")
	p.reads("validate")
	if out, errs, code := p.run("", "git", "fsck", "--full"); code != 0 || strings.Contains(errs, "error") || strings.Contains(out, "missing") {
		p.t.Errorf("git fsck: exit %d\n%s%s", code, out, errs)
	}
}

func (p *project) addTask(id string) {
	p.t.Helper()
	p.must("", "add-task", "--id", id, "--desc", "Do "+id, "--spec", "specs/vision.md", "--done", "x prints y", "--scope", "IN: x", "--ready")
}

// set changes settings of the board, each "key value".
func (p *project) set(settings ...string) {
	p.t.Helper()
	for _, s := range settings {
		key, value, _ := strings.Cut(s, " ")
		p.must("", "config", "set", key, value)
	}
}

func (p *project) write(path, text string) {
	p.t.Helper()
	file := filepath.Join(p.dir, filepath.FromSlash(path))
	testrun.Check(p.t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)))
}

// at sets the clock.
func (p *project) at(now time.Time) {
	p.env = append(slices.Clip(p.env), "LIZA_TEST_NOW="+now.Format(time.RFC3339))
}

// lies reports whether git finds an object by a name.
func (p *project) lies(name string) bool {
	p.t.Helper()
	_, _, code := p.run("", "git", "cat-file", "-e", name)
	return code == 0
}
