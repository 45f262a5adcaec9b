package supervisor

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestLeavesNoProcesses checks that everything an agent has started ends with it, in its process
// group and in other sessions.
func TestLeavesNoProcesses(t *testing.T) {
	testrun.NotShort(t)
	for name, c := range map[string]struct {
		script string
		marked bool
		asked  bool // it was asked to end
	}{
		"in its group":                         {"sleep 300 & echo $!", true, false},
		"in its group, without a mark":         {"sleep 300 & echo $!", false, false},
		"in a session of its own":              {"setsid sleep 300 & echo $!", true, false},
		"in a session, and orphaned":           {"(setsid sleep 300 & echo $!)", true, false},
		"in a session, and the agent is ended": {"setsid sleep 300 & echo $!; wait", false, true},
	} {
		out, mark := written{some: make(chan struct{}, 1)}, ""
		if c.marked {
			mark = "LIZA_TEST_MARK=" + t.TempDir()
		}
		p, err := start(command{args: []string{"sh", "-c", c.script}, env: append(os.Environ(), mark), output: &out, mark: mark})
		if err != nil {
			t.Fatal(err)
		}
		if c.asked {
			<-out.some
			p.ask(terminate)
		}
		if err := <-p.done; err != nil && !c.asked {
			t.Errorf("%s: %v", name, err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(out.text.String()))
		if err != nil {
			t.Fatal(err)
		}
		for ends := time.Now().Add(time.Minute); proc.Of(pid) != "" && time.Now().Before(ends); {
			time.Sleep(time.Millisecond) // the kernel takes a moment to end a killed process
		}
		if proc.Of(pid) != "" {
			t.Errorf("%s: process %d is left", name, pid)
			if left, err := os.FindProcess(pid); err == nil {
				_ = left.Kill()
			}
		}
	}
}

// TestSlowReaderMissesNothing checks that all output of an ended agent arrives where its reader is
// slow and a leftover holds the output open.
func TestSlowReaderMissesNothing(t *testing.T) {
	testrun.NotShort(t)
	out, mark := &slow{ends: make(chan struct{})}, "LIZA_TEST_MARK="+t.TempDir()
	p, err := start(command{
		args: []string{"sh", "-c", "setsid sleep 300 & printf %050000d 1"}, // more than one read takes
		env:  append(os.Environ(), mark), output: out, mark: mark,
	})
	must(t, err)
	for proc.Of(p.cmd.Process.Pid) != "" {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(4 * quiet) // the reader is elsewhere for longer than a leftover may be quiet
	close(out.ends)
	must(t, <-p.done)
	if out.text.Len() != 50000 || p.left != 1 {
		t.Errorf("%d bytes; it had left %d processes", out.text.Len(), p.left)
	}
}

// slow takes nothing until ends is closed.
type slow struct {
	text bytes.Buffer
	ends chan struct{}
}

func (w *slow) Write(b []byte) (int, error) {
	<-w.ends
	return w.text.Write(b)
}

// TestLeftoverOfOneSession checks that the end of a dead session's leftovers does not reach the agent
// of the next session, whose process is on record by then.
func TestLeftoverOfOneSession(t *testing.T) {
	testrun.NotShort(t)
	_, s, _, _ := supervised(t)
	runs := func(session string) *process {
		p, err := start(command{args: []string{"sleep", "300"}, env: append(os.Environ(), markOf(session)), output: io.Discard})
		must(t, err)
		must(t, s.files.keepProcess(processFile, p.cmd.Process.Pid))
		return p
	}
	dead, next := t.TempDir(), t.TempDir()
	first, second := runs(dead), runs(next)
	s.files.endLeftover(dead)
	<-first.done
	if pid, _ := s.files.liveProcess(processFile); pid != second.cmd.Process.Pid {
		t.Errorf("process %d is on record, and that of the next session is %d", pid, second.cmd.Process.Pid)
	}
	s.files.endLeftover(next)
	<-second.done
	if text, err := s.files.kept(processFile); err != nil || text != "" {
		t.Errorf("on record is %q, %v", text, err)
	}
}

// written is a buffer that signals when something was written.
type written struct {
	text bytes.Buffer
	some chan struct{}
}

func (w *written) Write(b []byte) (int, error) {
	n, err := w.text.Write(b)
	select {
	case w.some <- struct{}{}:
	default:
	}
	return n, err
}
