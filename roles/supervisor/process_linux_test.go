package supervisor

import (
	"io"
	"os"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/roles/process"
)

// TestLeftoverOfOneSession checks that the end of a dead session's leftovers does not reach the agent
// of the next session, whose process is on record by then.
func TestLeftoverOfOneSession(t *testing.T) {
	testrun.NotShort(t)
	_, s, _, _ := supervised(t)
	runs := func(session string) *process.Process {
		p := testrun.Must(process.Start(process.Command{Args: []string{"sleep", "300"}, Env: append(os.Environ(), markOf(session)), Output: io.Discard}))(t)
		must(t, s.files.keepProcess(processFile, p.PID()))
		return p
	}
	dead, next := t.TempDir(), t.TempDir()
	first, second := runs(dead), runs(next)
	s.files.endLeftover(dead)
	<-first.Done
	if pid, _ := s.files.liveProcess(processFile); pid != second.PID() {
		t.Errorf("process %d is on record, and that of the next session is %d", pid, second.PID())
	}
	s.files.endLeftover(next)
	<-second.Done
	testrun.Equal(t, testrun.Must(s.files.kept(processFile))(t), "", "on record is")
}
