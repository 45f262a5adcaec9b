package supervisor

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/gitio"
)

// What an agent leaves running ends with it: in its group, and in a session of its own as well.
func TestLeavesNoProcesses(t *testing.T) {
	for name, script := range map[string]string{
		"in its group":               "sleep 300 & echo $!",
		"in a session of its own":    "setsid sleep 300 & echo $!",
		"in a session, and orphaned": "(setsid sleep 300 & echo $!)",
	} {
		var out bytes.Buffer
		mark := "LIZA_TEST_MARK=" + t.TempDir()
		p, err := start(command{args: []string{"sh", "-c", script}, env: append(os.Environ(), mark), output: &out, mark: mark})
		if err != nil {
			t.Fatal(err)
		}
		if err := <-p.done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
		if err != nil {
			t.Fatal(err)
		}
		if gitio.Birth(pid) != "" {
			t.Errorf("%s: process %d is left", name, pid)
			if left, err := os.FindProcess(pid); err == nil {
				_ = left.Kill()
			}
		}
	}
}
