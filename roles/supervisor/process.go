package supervisor

import (
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/git-liza/git-liza/gitboard/gitio"
)

// killAfter is how long a process that was asked to end may take for it.
const killAfter = 10 * time.Second

// drain is how long what an ended process has left behind may hold its output open.
const drain = time.Second

// process is an agent's process, the leader of a group of its own.
type process struct {
	cmd    *exec.Cmd
	group  bool
	asked  atomic.Bool   // to end
	killed chan struct{} // closed then
	done   chan error    // gets what Wait returned, once
}

// command is what to run.
type command struct {
	args   []string
	dir    string
	env    []string
	stdin  io.Reader
	output io.Writer
	shares bool // the terminal, and so the process group, with the supervisor
}

// start runs a command. Its process group is ended as a whole; should the supervisor die, the system ends
// the process, where it can.
func start(c command) (*process, error) {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.dir, c.env, c.stdin, c.output, c.output
	cmd.WaitDelay = drain
	p := &process{cmd: cmd, group: !c.shares, killed: make(chan struct{}), done: make(chan error, 1)}
	copied, stop := func() {}, func() {}
	if p.group {
		isolate(cmd)
		var err error
		if copied, stop, err = pipe(cmd, c.output); err != nil {
			return nil, err
		}
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the system ends the child with the thread that started it
		err := cmd.Start()
		stop()
		started <- err
		if err != nil {
			return
		}
		err = cmd.Wait()
		p.linger()
		copied()
		signalProcess(p.cmd.Process, p.group, true) // what is left of the group
		p.done <- err
	}()
	return p, <-started
}

// pipe gives a command a pipe for its output, which outlives its leader. copied waits until the output's end has been
// read, or not much longer; stop closes this process's copy of the command's end.
func pipe(cmd *exec.Cmd, to io.Writer) (copied, stop func(), err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	cmd.Stdout, cmd.Stderr = w, w
	end := make(chan struct{})
	go func() {
		defer close(end)
		defer r.Close()
		_, _ = io.Copy(to, r)
	}()
	copied = func() {
		select {
		case <-end:
		case <-time.After(drain):
		}
		_ = r.Close()
		<-end
	}
	return copied, func() { _ = w.Close() }, nil
}

// linger waits for the others of a group that was asked to end, whose leader has: a shell ends at once, and leaves
// the agent that it has started to its grace.
func (p *process) linger() {
	if !p.group || !p.asked.Load() {
		return
	}
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for groupLives(p.cmd.Process.Pid) {
		select {
		case <-p.killed:
			return
		case <-look.C:
		}
	}
}

// exitCode is how a process has ended; 128 and the signal's number when it was ended by one.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return 0
	case !errors.As(err, &exit):
		return 1
	case exit.ExitCode() < 0:
		return 128 + signalOf(exit)
	}
	return exit.ExitCode()
}

// terminate asks the process to end.
func (p *process) terminate() {
	p.asked.Store(true)
	signalProcess(p.cmd.Process, p.group, false)
}

// kill ends the process; once.
func (p *process) kill() {
	signalProcess(p.cmd.Process, p.group, true)
	close(p.killed)
}

// inherit is an environment for a program that looks for its own repository, with other values for some
// variables.
func inherit(environ []string, set map[string]string) []string {
	env := slices.DeleteFunc(gitio.Elsewhere(environ), func(entry string) bool {
		key, _, _ := strings.Cut(entry, "=")
		_, other := set[key]
		return other
	})
	for _, key := range slices.Sorted(maps.Keys(set)) {
		env = append(env, key+"="+set[key])
	}
	return env
}
