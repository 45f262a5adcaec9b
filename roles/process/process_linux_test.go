package process

import (
	"bytes"
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
		p := testrun.Must(Start(Command{Args: []string{"sh", "-c", c.script}, Env: append(os.Environ(), mark), Output: &out, Mark: mark}))(t)
		if c.asked {
			<-out.some
			p.Terminate()
		}
		if err := <-p.Done; err != nil && !c.asked {
			t.Errorf("%s: %v", name, err)
		}
		pid := testrun.Must(strconv.Atoi(strings.TrimSpace(out.text.String())))(t)
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
	p, err := Start(Command{
		Args: []string{"sh", "-c", "setsid sleep 300 & printf %050000d 1"}, // more than one read takes
		Env:  append(os.Environ(), mark), Output: out, Mark: mark,
	})
	testrun.Check(t, err)
	for proc.Of(p.PID()) != "" {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(4 * parting) // the reader is elsewhere for longer than a leftover may be quiet
	close(out.ends)
	if err := <-p.Done; err != nil || out.text.Len() != 50000 || p.Left != 1 {
		t.Errorf("%d bytes, %v; it had left %d processes", out.text.Len(), err, p.Left)
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
