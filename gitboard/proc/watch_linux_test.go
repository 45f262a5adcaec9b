package proc

import (
	"os/exec"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestOnEnd checks that the end of a process is reported when it comes, also by a kill, and that a
// process that can't be identified is not watched.
func TestOnEnd(t *testing.T) {
	child := exec.Command("cat")
	in := testrun.Must(child.StdinPipe())(t)
	defer in.Close()
	check(t, child.Start())
	id, ended := Of(child.Process.Pid), make(chan bool, 2)
	stop := OnEnd(id, func() { ended <- true })
	unwatched := OnEnd(id, func() { t.Error("called although the watch was ended") })
	if stop == nil || unwatched == nil {
		t.Skip("the system has no pidfd")
	}
	unwatched()
	select {
	case <-ended:
		t.Fatal("it runs")
	default:
	}
	check(t, child.Process.Kill())
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("its end is not reported")
	}
	_ = child.Wait()
	stop()
	for _, id := range []ID{"", "x", id, Of(1) + "0"} {
		if OnEnd(id, func() {}) != nil {
			t.Errorf("%q is watched", id)
		}
	}
}
