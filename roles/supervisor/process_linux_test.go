package supervisor

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
		for ends := time.Now().Add(time.Minute); proc.Birth(pid) != "" && time.Now().Before(ends); {
			time.Sleep(time.Millisecond) // the kernel takes a moment to end a killed process
		}
		if proc.Birth(pid) != "" {
			t.Errorf("%s: process %d is left", name, pid)
			if left, err := os.FindProcess(pid); err == nil {
				_ = left.Kill()
			}
		}
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
