package git

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/proc"
)

// TestCommandsOnRecord checks that a command of the project stays on record for as long as any
// process of its group runs, and that another process with its leader's number does not count.
func TestCommandsOnRecord(t *testing.T) {
	_, r := scratch(t)
	leader := 0
	sleeps := func(group int) (end func()) {
		cmd := exec.Command("sleep", "60")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
		check(t, cmd.Start())
		end = sync.OnceFunc(func() {
			check(t, cmd.Process.Kill())
			_ = cmd.Wait() // it was killed
		})
		t.Cleanup(end)
		if group == 0 {
			leader = cmd.Process.Pid
		}
		return end
	}
	endLeader := sleeps(0)
	endOther := sleeps(leader)
	check(t, r.Commands().Record(leader, r.TopLevel()))
	born := proc.Birth(leader)
	_, ticks, _ := strings.Cut(born, " ")
	runs := func(when string, want map[string]bool) {
		t.Helper()
		for birth, is := range want {
			if groupRuns(leader, birth) != is {
				t.Errorf("%s, born %q: %v", when, birth, !is)
			}
		}
	}
	onRecord := func(want bool) {
		t.Helper()
		r.dropCommands()
		if r.Commands().Running()[leader] != want {
			t.Errorf("on record: %v, want %v", !want, want)
		}
	}
	runs("with its leader", map[string]bool{born: true, born + "1": false, "": false})
	onRecord(true)
	endLeader()
	runs("without its leader", map[string]bool{born: true, "another-boot " + ticks: false, "": false})
	onRecord(true)
	endOther()
	runs("when all have ended", map[string]bool{born: false})
	if r.Commands().Running()[leader] {
		t.Error("a command that has ended still runs")
	}
	onRecord(false)
	check(t, r.Commands().Record(leader, r.TopLevel())) // there is no such process any more
	if left, _ := os.ReadDir(r.commandsDir()); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestEndCommandsEnds checks that to end a command that can't be ended ends with its context.
func TestEndCommandsEnds(t *testing.T) {
	ctx, r := scratch(t)
	cmd := exec.CommandContext(ctx, "sleep", "60") // in this process's group, and so it leads none that can be killed
	check(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	check(t, r.Commands().Record(cmd.Process.Pid, "place"))
	writeIn(t, r.commandsDir(), ".being written", "")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := r.Commands().End(ended, "place"); !errors.Is(err, context.Canceled) || proc.Birth(cmd.Process.Pid) == "" {
		t.Errorf("got %v", err)
	}
	check(t, r.Commands().End(ended, "another place"))
}

// TestEndCommands checks that a command is ended if the process that waited for it was killed, or if
// it runs in the place that the caller is about to use, and not if it runs elsewhere, or if the
// command has ended and left something running on purpose.
func TestEndCommands(t *testing.T) {
	ctx, r := scratch(t)
	start := func() *exec.Cmd {
		cmd := exec.CommandContext(ctx, "sleep", "60")
		proc.OwnGroup(cmd)
		check(t, cmd.Start())
		t.Cleanup(func() {
			proc.EndGroup(cmd)
			_ = cmd.Wait() // it was killed
		})
		return cmd
	}
	caller := start()
	dead := proc.ID(caller.Process.Pid)
	check(t, caller.Process.Kill())
	_ = caller.Wait() // it was killed
	awaited, released, left, beside := start(), start(), start(), start()
	for cmd, in := range map[*exec.Cmd]string{awaited: "elsewhere", released: "place", left: "elsewhere", beside: "place"} {
		check(t, r.Commands().Record(cmd.Process.Pid, in))
	}
	r.Commands().Release(released.Process.Pid)
	// The group of another leader, with the number of one that has ended.
	strange := start()
	file, other := r.commandFile(left.Process.Pid), r.commandFile(strange.Process.Pid)
	check(t, disk.Replace(file, []byte(strings.Replace(string(must[[]byte](t)(os.ReadFile(file))), proc.This(), dead, 1))))
	check(t, disk.Replace(other, []byte(proc.Birth(strange.Process.Pid)+"1\n"+dead+"\n")))
	check(t, r.Commands().End(ctx, "place"))
	if proc.Birth(strange.Process.Pid) == "" || exists(other) {
		t.Error("a group that is not on record was ended, or its record is left")
	}
	for what, cmd := range map[string]*exec.Cmd{"what nobody waits for": left, "what runs in the place": beside} {
		if proc.Birth(cmd.Process.Pid) != "" {
			t.Errorf("%s still runs", what)
			continue
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Errorf("%s: %v", what, err)
		}
	}
	if want := map[int]bool{awaited.Process.Pid: true, released.Process.Pid: true}; !maps.Equal(r.Commands().Running(), want) {
		t.Errorf("%v run, not %v", r.Commands().Running(), want)
	}
	if exists(file) || exists(r.commandFile(beside.Process.Pid)) {
		t.Error("their records are left")
	}
}
