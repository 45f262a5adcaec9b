// Package process runs an agent's program, also in a container, and ends all that it has started.
//
// It may import gitboard/proc.
package process

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/git-liza/git-liza/gitboard/proc"
)

// leftAfter is how long the leftovers of a process get to end once they were asked to.
const leftAfter = 2 * time.Second

// How long the output of an ended process is read, unless it ends before: leftovers may still print
// something for a moment, and once they have been ended, a slow reader takes the rest.
const (
	parting = 100 * time.Millisecond
	rest    = 5 * time.Second
)

// Command is a program to run.
type Command struct {
	Args   []string
	Dir    string
	Env    []string
	Stdin  io.Reader
	Output io.Writer
	Shares bool   // it shares the terminal, and so the process group, with this process
	Mark   string // an entry of Env that everything it starts has, "" for none
}

// Process is a running command, the leader of a process group unless it shares the terminal.
type Process struct {
	Done chan error // gets its result, once
	Left int        // the number of processes that it left behind; set before Done

	cmd    *exec.Cmd
	group  bool
	mark   string
	asked  atomic.Bool   // it was asked to end
	killed chan struct{} // closed when it was killed

	mu     sync.Mutex
	family []proc.ID // its descendants when it was asked to end
}

// Start runs a command. Its group is ended as a whole. If this process dies, the system ends the
// command where it can.
func Start(c Command) (*Process, error) {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Dir, c.Env, c.Stdin, c.Output, c.Output
	cmd.WaitDelay = parting
	p := &Process{cmd: cmd, group: !c.Shares, mark: c.Mark, killed: make(chan struct{}), Done: make(chan error, 1)}
	out := &output{end: make(chan struct{})}
	if p.group {
		isolate(cmd)
		if err := out.pipe(cmd, c.Output); err != nil {
			return nil, err
		}
	} else {
		close(out.end)
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the child gets its death signal when this thread ends
		err := cmd.Start()
		out.begin()
		started <- err
		if err != nil {
			return
		}
		err = cmd.Wait()
		p.linger()
		out.wait(parting)
		p.Left = p.sweep()
		out.wait(rest)
		out.close()
		p.Done <- err
	}()
	return p, <-started
}

// output is a command's output, a pipe that outlives the group's leader.
type output struct {
	from, to *os.File // nil for a terminal
	end      chan struct{}
}

// pipe reads a command's output until its end.
func (o *output) pipe(cmd *exec.Cmd, to io.Writer) (err error) {
	if o.from, o.to, err = os.Pipe(); err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = o.to, o.to
	go func() {
		defer close(o.end)
		_, _ = io.Copy(to, o.from)
	}()
	return nil
}

// begin closes this process's copy of the write end.
func (o *output) begin() {
	if o.to != nil {
		_ = o.to.Close()
	}
}

// wait waits for the end of the output, for a time.
func (o *output) wait(most time.Duration) {
	select {
	case <-o.end:
	case <-time.After(most):
	}
}

// close ends the reading.
func (o *output) close() {
	if o.from != nil {
		_ = o.from.Close()
	}
	<-o.end
}

// linger waits for the rest of a group that was asked to end after its leader: a shell ends at
// once, but the agent that it started keeps its grace period.
func (p *Process) linger() {
	if !p.group || !p.asked.Load() {
		return
	}
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for proc.GroupLives(p.cmd.Process.Pid) {
		select {
		case <-p.killed:
			return
		case <-look.C:
		}
	}
}

// ExitCode is the exit code of a process, or 128 plus the signal's number if a signal ended it.
func ExitCode(err error) int {
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

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Interrupt asks the process and its descendants to end, like a person at the terminal.
func (p *Process) Interrupt() { p.ask(interrupt) }

// Terminate asks them by SIGTERM.
func (p *Process) Terminate() { p.ask(terminate) }

// ask asks the process and its descendants to end. CLIs run their tools in separate sessions, which a
// signal to the group does not reach and which can't be identified after the CLI's end.
func (p *Process) ask(s syscall.Signal) {
	p.asked.Store(true)
	p.mu.Lock()
	p.family = append(p.family, descendants(p.cmd.Process.Pid)...)
	p.mu.Unlock()
	signalProcess(p.cmd.Process, p.group, s)
}

// Kill kills the process. It must be called only once.
func (p *Process) Kill() {
	signalProcess(p.cmd.Process, p.group, kill)
	close(p.killed)
}

// sweep ends the leftovers of an ended agent's process: its group, its descendants when it was
// asked to end, and processes with its mark in their environment. It returns their number.
func (p *Process) sweep() int {
	signalProcess(p.cmd.Process, p.group, kill)
	p.mu.Lock()
	known := p.family
	p.mu.Unlock()
	return endAll(func() []proc.ID {
		if p.mark == "" {
			return known
		}
		return append(marked(p.mark), known...)
	})
}

// EndMarked ends the processes that have a mark in their environment, and the group of their leader if
// that is one of them, which it reports.
func EndMarked(mark string, leader int) (led bool) {
	all := func() []proc.ID { return marked(mark) }
	if led = slices.ContainsFunc(all(), func(p proc.ID) bool { return p.PID() == leader }); led {
		if p, err := os.FindProcess(leader); err == nil {
			signalProcess(p, true, kill)
		}
	}
	endAll(all)
	return led
}

// endAll ends the processes that find returns until all have ended, by SIGTERM and after a while by
// SIGKILL.
func endAll(find func() []proc.ID) int {
	seen := map[proc.ID]bool{}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	firm := time.After(leftAfter)
	for s, tries := terminate, 0; ; {
		living := 0
		for _, k := range find() {
			if !k.Runs() {
				continue
			}
			living++
			if !seen[k] || s == kill {
				seen[k] = true
				if p, err := os.FindProcess(k.PID()); err == nil {
					signalProcess(p, false, s)
				}
			}
		}
		if living == 0 || tries == 2 { // what survives that is left to the system
			return len(seen)
		}
		select {
		case <-firm:
			s, tries, firm = kill, tries+1, time.After(leftAfter)
		case <-look.C:
		}
	}
}
