//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// A liveScreen is a live screen in its own terminal: a real process behind a pty.
type liveScreen struct {
	t         *testing.T
	cmd       *exec.Cmd
	host, tty *os.File
	before    *term.State
	ended     chan error

	mu      sync.Mutex
	output  []byte
	changed chan struct{}
}

func (p *project) watchScreen(size pty.Winsize, env ...string) *liveScreen {
	p.t.Helper()
	return p.onTerminal(size, env, "git-liza", "status", "--watch")
}

func (p *project) onTerminal(size pty.Winsize, env []string, argv ...string) *liveScreen {
	p.t.Helper()
	host, tty, err := pty.Open()
	if err != nil {
		p.t.Skipf("no pty here: %v", err)
	}
	s := &liveScreen{t: p.t, host: host, tty: tty, ended: make(chan error, 1), changed: make(chan struct{}, 1)}
	testrun.Check(p.t, pty.Setsize(tty, &size))
	if s.before, err = term.GetState(int(tty.Fd())); err != nil {
		p.t.Fatal(err)
	}
	s.cmd = exec.Command(argv[0], argv[1:]...)
	s.cmd.Dir, s.cmd.Env = p.dir, append(p.env[:len(p.env):len(p.env)], append([]string{"LC_ALL=C.UTF-8", "TERM=xterm", "NO_COLOR="}, env...)...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	testrun.Check(p.t, s.cmd.Start())
	go s.listen()
	go func() { s.ended <- s.cmd.Wait() }()
	p.t.Cleanup(func() {
		s.cmd.Process.Kill()
		tty.Close()
		host.Close()
	})
	return s
}

func (s *liveScreen) listen() {
	buffer := make([]byte, 1<<16)
	for {
		n, err := s.host.Read(buffer)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.output = append(s.output, buffer[:n]...)
		s.mu.Unlock()
		select {
		case s.changed <- struct{}{}:
		default:
		}
	}
}

func (s *liveScreen) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.output)
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[a-zA-Z]")

// lines is the last complete frame as a reader sees it.
func (s *liveScreen) lines() []string {
	said := s.all()
	end := strings.LastIndex(said, "\x1b[?2026l")
	if end < 0 {
		return nil
	}
	begin := strings.LastIndex(said[:end], "\x1b[?2026h")
	return strings.Split(escapes.ReplaceAllString(said[begin:end], ""), "\r\n")
}

// until waits for something that the screen's output makes true.
func (s *liveScreen) until(what string, is func() bool) {
	s.t.Helper()
	for over := time.After(longest); !is(); {
		select {
		case <-s.changed:
		case <-over:
			s.t.Fatalf("not within %s: %s\n%s\nof %q", longest, what, strings.Join(s.lines(), "\n"), escapes.ReplaceAllString(s.all(), ""))
		}
	}
}

// await waits until the screen shows all texts.
func (s *liveScreen) await(texts ...string) (lines []string) {
	s.t.Helper()
	s.until(fmt.Sprintf("it shows %q", texts), func() bool {
		lines = s.lines()
		screen := strings.Join(lines, "\n")
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(screen, text) })
	})
	return lines
}

// said waits for a text outside a frame, and returns how much had been printed up to its end.
func (s *liveScreen) said(text string) (end int) {
	s.t.Helper()
	s.until(fmt.Sprintf("it says %q", text), func() bool {
		at := strings.Index(s.all(), text)
		end = at + len(text)
		return at >= 0
	})
	return end
}

// drawn waits for a frame that begins after so much output.
func (s *liveScreen) drawn(after int) {
	s.t.Helper()
	s.until("a frame is drawn", func() bool { return strings.Contains(s.all()[after:], "\x1b[?2026l") })
}

func (s *liveScreen) press(keys string) {
	s.t.Helper()
	if _, err := s.host.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// restored waits for the end, its exit code, and the terminal's former state.
func (s *liveScreen) restored(code int) {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(longest):
		s.t.Fatal("the process does not end")
	}
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit code %d, want %d\n%s", got, code, escapes.ReplaceAllString(s.all(), ""))
	}
	const goodbye = "\x1b[?25h\x1b[?1049l"
	s.until("the alternate screen is left", func() bool { return strings.Contains(s.all(), goodbye) })
	after := testrun.Must(term.GetState(int(s.tty.Fd())))(s.t)
	if !reflect.DeepEqual(after, s.before) {
		s.t.Errorf("the terminal was %+v and is %+v", s.before, after)
	}
}

var eighty = pty.Winsize{Rows: 30, Cols: 80}

func TestLiveScreen(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("parse")
	s := p.watchScreen(eighty)
	lines := s.await("Waiting: you 1, coders 1.", "there is none", "UNCLAIMED 1", "parse", "? help")
	if len(lines) != 30 {
		t.Errorf("the frame has %d lines on a screen of 30", len(lines))
	}

	// It follows the board.
	p.must("coder-1", "claim", "parse")
	s.await("CLAIMED 1", "coder-1", "lease 29m left", "claim(parse)")
	p.addTask("print")
	s.await("UNCLAIMED 1", "print")

	// It steers the run.
	s.press("p")
	s.await("why is the board paused?")
	s.press("lunch\r")
	s.await("Waiting: you 1.", "board   PAUSED", "git liza resume")
	testrun.Equal(t, p.must("", "read", "control.mode"), "PAUSED\n", "the board is")
	s.press("p")
	s.await("nothing to pause: the board is PAUSED", "? help") // above the keys, which stay visible

	// Its message about a pause disappears once somebody has resumed elsewhere.
	p.must("", "resume")
	if lines := strings.Join(s.await("board   RUNNING"), "\n"); strings.Contains(lines, "nothing to pause") || !strings.Contains(lines, "? help") {
		t.Errorf("the footer is old:\n%s", lines)
	}
	s.press("p\r")
	s.await("board   PAUSED")
	s.press("r")
	s.await("board   RUNNING")

	// A task's details, and back.
	s.press("\x1b[B\x1b[B")
	s.await("▸ parse")
	s.press("\x1b[A")
	s.await("▸ print")
	s.press("\r")
	s.await("print: Do print", "done when     x prints y", "timeline", "esc back")
	p.must("", "note", "--for", "print", "mind the newline")
	s.await("mind the newline")
	s.press("\x1b")
	s.await("▸ print", "? help")
	s.press("?")
	s.await("p: pause;", "esc back")
	s.press("?")
	s.await("▸ print", "? help")

	// It adapts to the terminal's size.
	testrun.Check(t, pty.Setsize(s.tty, &pty.Winsize{Rows: 20, Cols: 50}))
	testrun.Check(t, s.cmd.Process.Signal(syscall.SIGWINCH))
	s.until("the frame has 20 lines", func() bool { return len(s.lines()) == 20 })
	for _, line := range s.lines() {
		if n := len([]rune(line)); n > 50 {
			t.Errorf("a line of %d characters on a screen of 50: %q", n, line)
		}
	}
	s.press("q")
	s.restored(0)
	p.proven()
}

// TestLiveScreenStale: an answer to a question that somebody else has answered since goes to no
// other question, and a draft that has changed since the key was pressed is not opened.
func TestLiveScreenStale(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("parse")
	p.must("", "block", "parse", "--reason", "unclear", "--question", "Euro?")
	s := p.watchScreen(eighty)
	s.await("BLOCKED 1")
	s.press("\x1b[B")
	s.await("▸ parse")
	s.press("a")
	s.await("? Euro?", "answer:")
	p.must("", "answer", "parse", "Euro")
	p.must("", "block", "parse", "--reason", "unclear", "--question", "May the tests go?")
	s.press("Yes\r")
	s.await("parse has changed since you saw it")
	p.must("", "answer", "parse", "No")
	p.must("", "add-task", "--id", "print", "--desc", "Do print", "--spec", "specs/vision.md", "--done", "x prints y", "--scope", "IN: a")
	s.await("DRAFT 1")
	s.press("\x1b[A\x1b[A")
	s.await("▸ print")
	s.press("f")
	s.await("print is opened to coders: enter")
	p.must("", "amend-task", "print", "--done", "x prints all there is")
	s.press("\r")
	s.await("print has changed since you saw it")
	testrun.Equal(t, p.must("", "read", "tasks.print.status"), "DRAFT\n", "print is")
	s.press("q")
	s.restored(0)
	p.proven()
}

// TestLiveScreenStops: Ctrl-Z returns the terminal to the shell, and fg continues where the reader
// was.
func TestLiveScreenStops(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("parse")
	s := p.onTerminal(eighty, nil, "sh", "-m", "-c",
		`git-liza status --watch; case $(stty -a) in *-icanon*) echo is raw;; *) echo is as it was;; esac; read go; fg; exit $?`)
	s.await("UNCLAIMED 1", "? help")
	s.press("\x1b[B\x1b[B") // past what waits
	s.await("▸ parse")
	s.press("\x1a")
	shown := s.said("is as it was")
	s.press("\n")
	s.drawn(shown)
	s.await("▸ parse", "? help")
	s.press("q")
	s.restored(0)
}

func TestLiveScreenGivesTheTerminalBack(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	for name, end := range map[string]func(s *liveScreen){
		"Ctrl-C":  func(s *liveScreen) { s.press("\x03") },
		"SIGTERM": func(s *liveScreen) { s.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":  func(s *liveScreen) { s.cmd.Process.Signal(syscall.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "SIGHUP" && signal.Ignored(syscall.SIGHUP) {
				t.Skip("nohup: who is started so doesn't hear it either")
			}
			p := *p
			p.t = t
			s := p.watchScreen(eighty)
			s.await("? help")
			end(s)
			s.restored(0)
		})
	}
}

// TestAbortAsks: on a terminal abort asks the human for confirmation, and only yes is accepted.
func TestAbortAsks(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	for _, c := range []struct{ answer, mode string }{{"n\n", "RUNNING"}, {"\n", "RUNNING"}, {"y\n", "ABORTED"}} {
		s := p.onTerminal(pty.Winsize{Rows: 20, Cols: 120}, nil, "git-liza", "abort")
		s.said("the history stays. Continue? [y/N] ")
		s.press(c.answer)
		select {
		case err := <-s.ended:
			if (err == nil) != (c.mode == "ABORTED") {
				t.Errorf("after %q: %v: %s", c.answer, err, s.all())
			}
		case <-time.After(longest):
			t.Fatalf("after %q it does not end: %s", c.answer, s.all())
		}
		testrun.Equal(t, p.must("", "read", "control.mode"), c.mode+"\n", "after %q the board is", c.answer)
	}
}
