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

	"github.com/git-liza/git-liza/forge"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/proc"
)

// How long a process gets to end once it was asked to. An interrupted CLI gets termAfter before
// SIGTERM, and killAfter before it is killed. What it has left behind gets leftAfter.
const (
	termAfter = 4 * time.Second
	killAfter = 10 * time.Second
	leftAfter = 2 * time.Second
)

// How long the leftovers of an ended process may hold its output open: until they have been quiet for
// a moment, and no longer than drain. The end of the output comes first.
const (
	drain = time.Second
	quiet = 50 * time.Millisecond
)

// process is an agent's process, the leader of its own process group.
type process struct {
	cmd    *exec.Cmd
	group  bool
	mark   string        // an environment entry unique to this agent, "" for none
	asked  atomic.Bool   // it was asked to end
	killed chan struct{} // closed when it was killed
	done   chan error    // gets the result of Wait, once
	left   int           // number of processes it left behind; set before done

	mu     sync.Mutex
	family []proc.ID // its descendants when it was asked to end
}

// command is a program to run.
type command struct {
	args   []string
	dir    string
	env    []string
	stdin  io.Reader
	output io.Writer
	shares bool   // shares the terminal, and so the process group, with the supervisor
	mark   string // process.mark

	container string // name of its container, "" for none

	resumed bool // it continues an earlier conversation
	size    int  // bytes of the prompt
}

// start runs a command, in its own process group unless it shares the terminal; the group is ended
// as a whole. If the supervisor dies, the system ends the process where it can.
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
		runtime.LockOSThread() // the child gets its death signal when this thread ends
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

// pipe gives a command a pipe for its output that outlives the group's leader. copied waits until
// the output has been read to its end, or a little longer; stop closes this process's copy of the
// write end.
func pipe(cmd *exec.Cmd, to io.Writer) (copied, stop func(), err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	cmd.Stdout, cmd.Stderr = w, w
	from, end := &outlet{Reader: r}, make(chan struct{})
	go func() {
		defer close(end)
		defer r.Close()
		_, _ = io.Copy(to, from)
	}()
	copied = func() {
		from.drain(end)
		_ = r.Close()
		<-end
	}
	return copied, func() { _ = w.Close() }, nil
}

// outlet reads a process's output.
type outlet struct {
	io.Reader
	steps atomic.Int64 // odd while it waits in Read
}

func (o *outlet) Read(p []byte) (int, error) {
	o.steps.Add(1)
	defer o.steps.Add(1)
	return o.Reader.Read(p)
}

// drain waits, after the end of the process, until end is closed or leftovers have been quiet for a
// moment, or for the time drain. The time does not count in which a slow reader takes one piece.
func (o *outlet) drain(end <-chan struct{}) {
	look := time.NewTicker(quiet)
	defer look.Stop()
	last, still := o.steps.Load(), 0
	for most := drain / quiet; most > 0 && still < 2; {
		select {
		case <-end:
			return
		case <-look.C:
		}
		now := o.steps.Load()
		if now != last {
			last, still = now, 0
			most--
		} else if now%2 == 1 {
			still++
		}
	}
}

// linger waits for the rest of a group that was asked to end after its leader: a shell ends at
// once, but the agent that it started keeps its grace period.
func (p *process) linger() {
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

// exitCode is the exit code of a process, or 128 plus the signal's number if a signal ended it.
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

// ask asks the process and its descendants to end, by SIGINT like a person at the terminal, or by
// SIGTERM. CLIs run their tools in separate sessions, which a signal to the group does not reach
// and which can't be identified after the CLI's end.
func (p *process) ask(s syscall.Signal) {
	p.asked.Store(true)
	p.mu.Lock()
	p.family = append(p.family, descendants(p.cmd.Process.Pid)...)
	p.mu.Unlock()
	signalProcess(p.cmd.Process, p.group, s)
}

// kill kills the process. It must be called only once.
func (p *process) kill() {
	signalProcess(p.cmd.Process, p.group, kill)
	close(p.killed)
}

// keyVar names the signing key. An agent does not inherit it from the environment of its
// supervisor.
const keyVar = "LIZA_SIGNING_KEY"

// markOf is the entry by which everything that an agent starts is known: its session.
func markOf(session string) string { return "LIZA_SESSION=" + session }

// sweep ends the leftovers of an ended agent's process: its group, its descendants when it was
// asked to end, and processes with its mark in their environment. It returns their number.
func (p *process) sweep() int {
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

// inherit is the environment for a program that finds its own repository, with the variables in set
// replaced. Of all tokens it has only the program's own.
func inherit(environ []string, set map[string]string, keeps ...string) []string {
	tokens := forge.Tokens()
	env := slices.DeleteFunc(gitenv.Elsewhere(environ), func(entry string) bool {
		key, _, _ := strings.Cut(entry, "=")
		_, other := set[key]
		return other || key == keyVar || slices.Contains(tokens, key) && !slices.Contains(keeps, key)
	})
	for _, key := range slices.Sorted(maps.Keys(set)) {
		env = append(env, key+"="+set[key])
	}
	return env
}
