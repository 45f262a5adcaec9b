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
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/git-liza/git-liza/gitboard/gitio"
)

// How long a process that was asked to end may take for it: a CLI that was interrupted until it is asked again more
// firmly, then until it is killed. What it has left behind gets less.
const (
	termAfter = 4 * time.Second
	killAfter = 10 * time.Second
	leftAfter = 2 * time.Second
)

// drain is how long what an ended process has left behind may hold its output open.
const drain = time.Second

// process is an agent's process, the leader of a group of its own.
type process struct {
	cmd    *exec.Cmd
	group  bool
	mark   string        // an entry of its environment, and of no other agent's; "" for none
	asked  atomic.Bool   // to end
	killed chan struct{} // closed then
	done   chan error    // gets what Wait returned, once
	left   int           // how many processes it had left behind when it ended; set before done

	mu     sync.Mutex
	family []kin // what it had started when it was asked to end
}

// command is what to run.
type command struct {
	args   []string
	dir    string
	env    []string
	stdin  io.Reader
	output io.Writer
	shares bool   // the terminal, and so the process group, with the supervisor
	mark   string // process.mark

	container string // the name of the one that it runs in; "" for none

	resumed bool // it continues an earlier conversation
	size    int  // bytes of the prompt
}

// start runs a command. Its process group is ended as a whole; should the supervisor die, the system ends
// the process, where it can.
func start(c command) (*process, error) {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.dir, c.env, c.stdin, c.output, c.output
	cmd.WaitDelay = drain
	p := &process{cmd: cmd, group: !c.shares, mark: c.mark, killed: make(chan struct{}), done: make(chan error, 1)}
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
		p.left = p.sweep()
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

// ask asks the process, and all that it has started, to end: by an interrupt, as a person at its terminal would, or by
// SIGTERM. CLIs run their tools in sessions of their own, which the group's signal does not reach, and which nobody
// could tell from other processes once the CLI has ended.
func (p *process) ask(s syscall.Signal) {
	p.asked.Store(true)
	p.mu.Lock()
	p.family = append(p.family, descendants(p.cmd.Process.Pid)...)
	p.mu.Unlock()
	signalProcess(p.cmd.Process, p.group, s)
}

// kill ends the process; once.
func (p *process) kill() {
	signalProcess(p.cmd.Process, p.group, kill)
	close(p.killed)
}

// keyVar names the key of whoever starts the supervisor, unless it is set anew.
const keyVar = "LIZA_SIGNING_KEY"

// sweep ends what is left of an agent whose process has ended: its group, what it had started when it was asked to
// end, and what has its mark in its environment. It returns how many processes that were.
func (p *process) sweep() int {
	signalProcess(p.cmd.Process, p.group, kill)
	p.mu.Lock()
	known := p.family
	p.mu.Unlock()
	return endAll(func() []kin {
		if p.mark == "" {
			return known
		}
		return append(marked(p.mark), known...)
	})
}

// endAll ends the processes that find finds, until it finds none that lives: by SIGTERM, and after a while by SIGKILL.
func endAll(find func() []kin) int {
	seen := map[kin]bool{}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	firm := time.After(leftAfter)
	for s, tries := terminate, 0; ; {
		living := 0
		for _, k := range find() {
			if !k.lives() {
				continue
			}
			living++
			if !seen[k] || s == kill {
				seen[k] = true
				if p, err := os.FindProcess(k.pid); err == nil {
					signalProcess(p, false, s)
				}
			}
		}
		if living == 0 || tries == 2 { // what survives that is the system's to end
			return len(seen)
		}
		select {
		case <-firm:
			s, tries, firm = kill, tries+1, time.After(leftAfter)
		case <-look.C:
		}
	}
}

// inherit is an environment for a program that looks for its own repository, with other values for some
// variables.
func inherit(environ []string, set map[string]string) []string {
	env := slices.DeleteFunc(gitio.Elsewhere(environ), func(entry string) bool {
		key, _, _ := strings.Cut(entry, "=")
		_, other := set[key]
		return other || key == keyVar
	})
	for _, key := range slices.Sorted(maps.Keys(set)) {
		env = append(env, key+"="+set[key])
	}
	return env
}
