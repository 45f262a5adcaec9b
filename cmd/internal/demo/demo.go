package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Options are the settings of Run.
type Options struct {
	Dir    string    // the repository's directory; "" for a temporary one
	Out    io.Writer // gets the narration
	Colour bool
	Now    func() time.Time
}

// Result is the result of a run.
type Result struct {
	Dir        string  `json:"dir"`
	Operations int     `json:"operations"`
	Merged     int     `json:"tasks_merged"`
	Verified   bool    `json:"verified"`
	Output     string  `json:"output"` // of the finished program
	Seconds    float64 `json:"seconds"`
}

// StepError names the step at which a run ended, and its repository.
type StepError struct {
	Step  int
	Title string
	Dir   string
	Err   error
}

func (e *StepError) Error() string { return fmt.Sprintf("step %d (%s): %v", e.Step, e.Title, e.Err) }

func (e *StepError) Unwrap() error { return e.Err }

// DirError is a directory that can't hold the repository.
type DirError struct{ Dir, Why string }

func (e *DirError) Error() string { return fmt.Sprintf("%s %s", e.Dir, e.Why) }

// MissingError is a required program that is not installed.
type MissingError struct{ Program string }

func (e *MissingError) Error() string {
	return "the demo needs " + e.Program + ", and it is not in PATH"
}

var errInterrupted = errors.New("interrupted")

// Run plays the demo. Its errors are *DirError, *MissingError and *StepError; the repository is
// always kept.
func Run(ctx context.Context, o Options) (*Result, error) {
	began := o.Now()
	for _, name := range []string{"git", "go", "sh"} {
		if _, err := exec.LookPath(name); err != nil {
			return nil, &MissingError{name}
		}
	}
	dir, err := place(o.Dir)
	if err != nil {
		return nil, err
	}
	bin, err := program()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(bin)
	p := &play{ctx: ctx, dir: dir, bin: bin, out: o.Out, colour: o.Colour, shells: map[string]*shell{}, owner: map[string]string{}, printed: map[string]string{}}
	defer p.end()
	for i, s := range steps() {
		p.print("", p.paint("1", fmt.Sprintf("%2d. %s", i+1, s.title)))
		if err := p.step(s); err != nil {
			if ctx.Err() != nil {
				err = errInterrupted
			}
			return nil, &StepError{i + 1, s.title, dir, err}
		}
	}
	r, err := p.result()
	if err != nil {
		return nil, err
	}
	r.Seconds = o.Now().Sub(began).Round(10 * time.Millisecond).Seconds()
	p.summary(r)
	return r, nil
}

// place creates the directory of the repository and returns its absolute path without symbolic
// links. A chosen directory must be empty or not exist.
func place(dir string) (string, error) {
	if dir == "" {
		made, err := os.MkdirTemp("", "git-liza-demo-")
		if err != nil {
			return "", &DirError{os.TempDir(), "takes no directory: " + err.Error()}
		}
		return filepath.EvalSymlinks(made)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", &DirError{dir, "can't be made: " + err.Error()}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", &DirError{dir, "can't be read: " + err.Error()}
	}
	if len(entries) > 0 {
		return "", &DirError{dir, "is not empty"}
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}

// program makes a directory for PATH in which this program is git-liza.
func program() (dir string, err error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp("", "git-liza-demo-bin-"); err != nil {
		return "", err
	}
	return dir, os.Symlink(exe, filepath.Join(dir, "git-liza"))
}

// finished is the command in steps.txt that runs the finished program.
const finished = `go run . Ann "  Bob " Eve --shout`

// result reads the outcome from the repository with plain git, and from the output of the last
// steps.
func (p *play) result() (*Result, error) {
	human := p.shells["human"]
	ask := func(command string) string {
		out, _, err := human.run(command)
		if err != nil {
			out = err.Error()
		}
		return out
	}
	if left := ask("git status --porcelain"); left != "" {
		return nil, fmt.Errorf("the checkout is not clean:\n%s", left)
	}
	r := &Result{Dir: p.dir, Verified: true, Output: p.printed[finished]}
	r.Merged = strings.Count(ask("git grep -h '^status: MERGED' liza/state -- tasks"), "\n") + 1
	var err error
	r.Operations, err = strconv.Atoi(ask("git rev-list --count liza/state"))
	return r, err
}

// summary ends the narration: the result, and commands to look around.
func (p *play) summary(r *Result) {
	at := "git -C '" + strings.ReplaceAll(p.dir, "'", `'\''`) + "' "
	verified, _, _ := strings.Cut(p.printed["git liza verify"], "\n")
	p.print("",
		p.paint("1", fmt.Sprintf("Done in %.1f s: %d operations on the board, %d tasks merged.", r.Seconds, r.Operations, r.Merged)),
		"    verify printed       "+verified,
		"    the program printed  "+r.Output,
		"    the repository is    "+r.Dir+"   (kept; delete it when you like)",
		"", "Look around, with plain git:",
		"    "+at+"log --oneline liza/state",
		"    "+at+"log -p liza/state -- tasks/shout.yaml",
		"    "+at+"show liza/state:tasks/trim-name.yaml",
		"    "+at+"log --graph --oneline integration",
		"    "+at+"for-each-ref refs/liza",
		"", "And with git-liza installed (go install github.com/git-liza/git-liza/cmd/git-liza@latest):",
		"    "+at+"liza show trim-name",
		"    "+at+"liza log",
		"    "+at+"liza verify")
}
