//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// running is a command that runs while the test does, and whose lines it reads.
type running struct {
	p     *project
	cmd   *exec.Cmd
	other bytes.Buffer  // what it writes elsewhere; may be read once it has ended
	over  chan struct{} // closed when it has ended

	mu    sync.Mutex
	lines []string
	came  chan struct{}
	read  int // number of lines that until has passed
}

// start starts a command, and reads its standard output, or its standard error.
func (p *project) start(errs bool, args ...string) *running {
	p.t.Helper()
	r := &running{p: p, cmd: exec.Command("git-liza", args...), over: make(chan struct{}), came: make(chan struct{}, 1)}
	r.cmd.Dir, r.cmd.Env, r.cmd.SysProcAttr = p.dir, p.env, &syscall.SysProcAttr{Setpgid: true}
	pipe := r.cmd.StdoutPipe
	if errs {
		pipe, r.cmd.Stdout = r.cmd.StderrPipe, &r.other
	} else {
		r.cmd.Stderr = &r.other
	}
	from := testrun.Must(pipe())(p.t)
	testrun.Check(p.t, r.cmd.Start())
	p.t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		<-r.over
	})
	go func() {
		for lines := bufio.NewScanner(from); lines.Scan(); {
			r.take(lines.Text())
		}
		_ = r.cmd.Wait() // the exit code shows what happened
		close(r.over)
	}()
	return r
}

func (r *running) take(line string) {
	r.mu.Lock()
	r.lines = append(r.lines, line)
	r.mu.Unlock()
	select {
	case r.came <- struct{}{}:
	default:
	}
}

// said returns the lines so far.
func (r *running) said() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lines[:len(r.lines):len(r.lines)]
}

// until waits for the next line that is wanted.
func (r *running) until(what string, wanted func(line string) bool) {
	r.p.t.Helper()
	late := time.After(longest)
	for {
		for lines := r.said(); r.read < len(lines); {
			line := lines[r.read]
			if r.read++; wanted(line) {
				return
			}
		}
		select {
		case <-r.came:
		case <-r.over:
			if r.read == len(r.said()) {
				r.p.t.Fatalf("it ended before %s:\n%s", what, r.story())
			}
		case <-late:
			r.p.t.Fatalf("not within %s: %s\n%s", longest, what, r.story())
		}
	}
}

// exits waits for the end, for as long as there is a line now and then, and checks the exit code.
func (r *running) exits(code int) {
	r.p.t.Helper()
	late := time.NewTimer(longest)
	defer late.Stop()
	for over := false; !over; {
		select {
		case <-r.over:
			over = true
		case <-r.came:
			late.Reset(longest)
		case <-late.C:
			r.p.t.Fatalf("it has not ended, and has said nothing for %s:\n%s", longest, r.story())
		}
	}
	if got := r.cmd.ProcessState.ExitCode(); got != code {
		r.p.t.Fatalf("exit code %d, want %d:\n%s", got, code, r.story())
	}
}

// story is everything that was said, for a failed test.
func (r *running) story() string {
	text := strings.Join(r.said(), "\n")
	select {
	case <-r.over:
		text += "\n" + r.cmd.ProcessState.String() + "\n" + r.other.String()
	default:
	}
	return text
}

func (r *running) signal(sig syscall.Signal) {
	r.p.t.Helper()
	testrun.Check(r.p.t, r.cmd.Process.Signal(sig))
}
