package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/proc"
)

// Ran is a command line as typed, and its output.
type Ran struct {
	Line []string `json:"line"`
	Out  string   `json:"out,omitempty"`
	Exit int      `json:"exit,omitempty"`
	Show int      `json:"show"` // lines of the output worth showing
}

// shell is where somebody types: it has a directory and an environment, and records what it ran.
type shell struct {
	exe  string // this binary, as which `git liza` runs
	root string // the repository
	dir  string
	env  []string
	ran  []Ran
}

// newShell is a shell at a repository's root, with an environment free of variables that would
// redirect git, go or `git liza`.
func newShell(root string) (*shell, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return &shell{exe: exe, root: root, dir: root, env: environment(os.Environ())}, nil
}

func environment(all []string) []string {
	env := slices.DeleteFunc(slices.Clone(all), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "LIZA_") || name == "SKIP_SPEC_FILE_CHECK" ||
			name == "OLDPWD" || name == "GOFLAGS" || name == "GOPACKAGESDRIVER"
	})
	return append(env, "LC_ALL=C", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GOFLAGS=-mod=mod -buildvcs=false", "GOPROXY=off", "GOTOOLCHAIN=local", "GOWORK=off", "GO111MODULE=on")
}

func (s *shell) set(name, value string) { s.env = append(s.env, name+"="+value) }

// cd changes the directory; it records nothing if that is the present one.
func (s *shell) cd(dir string) {
	if dir == s.dir {
		return
	}
	to, err := filepath.Rel(s.dir, dir)
	if err != nil {
		to = dir
	}
	s.dir = dir
	s.ran = append(s.ran, Ran{Line: []string{"cd", to}})
}

// note records something that was done without running a program, such as an edit.
func (s *shell) note(out string, line ...string) {
	s.ran = append(s.ran, Ran{Line: line, Out: out, Show: 12})
}

// run runs a command line, records it and returns its result; an error means that it could not be
// run.
func (s *shell) run(ctx context.Context, show int, line ...string) (Ran, error) {
	var out bytes.Buffer
	cmd := s.command(ctx, line)
	cmd.Stdout, cmd.Stderr = &out, &out
	exit, err := wait(cmd)
	r := Ran{Line: line, Out: strings.TrimSpace(out.String()), Exit: exit, Show: show}
	s.ran = append(s.ran, r)
	return r, err
}

// expect runs a command line that must end with an exit code.
func (s *shell) expect(ctx context.Context, exit, show int, line ...string) (Ran, error) {
	r, err := s.run(ctx, show, line...)
	if err == nil && r.Exit != exit {
		err = fmt.Errorf("%s ended with %d, not %d:\n%s", typed(line), r.Exit, exit, r.Out)
	}
	return r, err
}

func (s *shell) must(ctx context.Context, show int, line ...string) error {
	_, err := s.expect(ctx, 0, show, line...)
	return err
}

// ask runs a command line without recording it, and returns its output.
func (s *shell) ask(ctx context.Context, line ...string) (string, error) {
	var out, errs bytes.Buffer
	cmd := s.command(ctx, line)
	cmd.Stdout, cmd.Stderr = &out, &errs
	exit, err := wait(cmd)
	if err == nil && exit != 0 {
		err = fmt.Errorf("%s ended with %d:\n%s", typed(line), exit, errs.String())
	}
	return strings.TrimSpace(out.String()), err
}

// taken returns what was run since the last call.
func (s *shell) taken() []Ran {
	ran := s.ran
	s.ran = nil
	return ran
}

// command is a process in its own group, which ends as a whole with the context.
func (s *shell) command(ctx context.Context, line []string) *exec.Cmd {
	if len(line) > 1 && line[0] == "git" && line[1] == "liza" {
		line = append([]string{s.exe}, line[2:]...)
	}
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Dir, cmd.Env = s.dir, append(slices.Clone(s.env), "PWD="+s.dir)
	proc.OwnGroup(cmd)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// wait runs a process and returns its exit code.
func wait(cmd *exec.Cmd) (int, error) {
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return -1, fmt.Errorf("%s: %w", typed(cmd.Args), err)
	}
	return 0, nil
}
