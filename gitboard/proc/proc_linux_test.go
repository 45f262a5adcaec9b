package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestUptimeIsExact checks that the time since the boot has the unit of start times, without an
// error of rounding: a process that has just started did not start later than now.
func TestUptimeIsExact(t *testing.T) {
	own, ok := read("/proc/self")
	if !ok || own.PID != os.Getpid() {
		t.Fatalf("own process: %+v", own)
	}
	for range 500 {
		now := Uptime()
		if now%tick != 0 || now < own.Started {
			t.Fatalf("uptime %v, in units of %v; started at %v", now, tick, own.Started)
		}
	}
}

// TestRead checks that half a line about a process says nothing.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	if _, ok := read(dir); ok {
		t.Error("a process that is gone")
	}
	rest := strings.Repeat(" 7", 18)
	for text, want := range map[string]bool{
		"12 (git) S" + rest + " 90 1": true, "12 (g) ( it) S" + rest + " 90 1": true, "12 (git) S" + rest: false, "12 (git) Z" + rest + " 90 1": false, "12 (git) S" + rest + " x": false,
		"12 git) S" + rest + " 90 1": false, "12 )git( S" + rest + " 90 1": false, "": false,
	} {
		check(t, os.WriteFile(filepath.Join(dir, "stat"), []byte(text), 0o644))
		s, ok := read(dir)
		if ok != want || ok && (s.PID != 12 || s.Parent != 7 || s.Group != 7 || s.Started != 90*tick) {
			t.Errorf("%q: %+v, %v", text, s, ok)
		}
	}
}

// TestZombie checks that a process that has ended is gone, although its parent has not asked yet.
func TestZombie(t *testing.T) {
	cmd := exec.Command("cat")
	in := testrun.Must(cmd.StdinPipe())(t)
	check(t, cmd.Start())
	process := Of(cmd.Process.Pid)
	if process.Ended() || process.PID() != cmd.Process.Pid {
		t.Errorf("%s has ended", process)
	}
	check(t, in.Close())
	const exited, leave, byPID = syscall.WEXITED, syscall.WNOWAIT, 1
	_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(cmd.Process.Pid), 0, exited|leave, 0, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	if !process.Ended() || process.Runs() {
		t.Errorf("%s has not ended", process)
	}
	check(t, cmd.Wait())
}

// TestGroups checks that a group of processes that has ended is no error, and one that has not begun
// no crash.
func TestGroups(t *testing.T) {
	EndGroup(&exec.Cmd{})
	cmd := exec.CommandContext(t.Context(), "true")
	OwnGroup(cmd)
	check(t, cmd.Run())
	testrun.ErrorIs(t, cmd.Cancel(), os.ErrProcessDone, "it has ended")
	EndGroup(cmd)
}

var check = testrun.Check
