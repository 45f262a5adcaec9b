package commands

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestCommandsOnRecord checks that a command of the project stays on record for as long as any
// process of its group runs, and that another process with its leader's number does not count.
func TestCommandsOnRecord(t *testing.T) {
	r := clone{t.TempDir()}
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
	check(t, Record(r, leader, "here"))
	id := proc.Of(leader)
	boot := strings.Fields(string(id))[1]
	runs := func(when string, want map[proc.ID]bool) {
		t.Helper()
		for id, is := range want {
			testrun.Equal(t, id.GroupRuns(), is, "%s, %q: %v", when, id, !is)
		}
	}
	onRecord := func(want bool) {
		t.Helper()
		drop(r)
		testrun.Equal(t, Running(r)[leader], want, "on record: %v, want", !want)
	}
	runs("with its leader", map[proc.ID]bool{id: true, id + "1": false, "": false})
	onRecord(true)
	endLeader()
	runs("without its leader", map[proc.ID]bool{id: true, proc.ID(strings.Replace(string(id), boot, "another", 1)): false, "": false})
	onRecord(true)
	endOther()
	runs("when all have ended", map[proc.ID]bool{id: false})
	if Running(r)[leader] {
		t.Error("a command that has ended still runs")
	}
	onRecord(false)
	check(t, Record(r, leader, "here")) // there is no such process any more
	if left, _ := os.ReadDir(folder(r)); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestEndCommandsEnds checks that to end a command that can't be ended ends with its context.
func TestEndCommandsEnds(t *testing.T) {
	ctx, r := t.Context(), clone{t.TempDir()}
	cmd := exec.CommandContext(ctx, "sleep", "60") // in this process's group, and so it leads none that can be killed
	check(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	check(t, Record(r, cmd.Process.Pid, "place"))
	check(t, os.WriteFile(filepath.Join(folder(r), ".being written"), nil, 0o644))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := End(ended, r, "place"); !errors.Is(err, context.Canceled) || proc.Of(cmd.Process.Pid) == "" {
		t.Errorf("got %v", err)
	}
	check(t, End(ended, r, "another place"))
}

// TestEndCommands checks that a command is ended if the process that waited for it was killed, or if
// it runs in the place that the caller is about to use, and not if it runs elsewhere, or if the
// command has ended and left something running on purpose.
func TestEndCommands(t *testing.T) {
	ctx, r := t.Context(), clone{t.TempDir()}
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
	dead := proc.Of(caller.Process.Pid)
	check(t, caller.Process.Kill())
	_ = caller.Wait() // it was killed
	awaited, released, left, beside := start(), start(), start(), start()
	for cmd, in := range map[*exec.Cmd]string{awaited: "elsewhere", released: "place", left: "elsewhere", beside: "place"} {
		check(t, Record(r, cmd.Process.Pid, in))
	}
	Release(r, released.Process.Pid)
	// The group of another leader, with the number of one that has ended.
	strange := start()
	record, other := file(r, left.Process.Pid), file(r, strange.Process.Pid)
	text := testrun.Must(os.ReadFile(record))(t)
	check(t, disk.Replace(record, []byte(strings.Replace(string(text), string(proc.This()), string(dead), 1))))
	check(t, disk.Replace(other, []byte(proc.Of(strange.Process.Pid)+"1\n"+dead+"\n")))
	check(t, End(ctx, r, "place"))
	if proc.Of(strange.Process.Pid) == "" || testrun.Exists(other) {
		t.Error("a group that is not on record was ended, or its record is left")
	}
	for what, cmd := range map[string]*exec.Cmd{"what nobody waits for": left, "what runs in the place": beside} {
		if proc.Of(cmd.Process.Pid) != "" {
			t.Errorf("%s still runs", what)
			continue
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Errorf("%s: %v", what, err)
		}
	}
	if want := map[int]bool{awaited.Process.Pid: true, released.Process.Pid: true}; !maps.Equal(Running(r), want) {
		t.Errorf("%v run, not %v", Running(r), want)
	}
	if testrun.Exists(record) || testrun.Exists(file(r, beside.Process.Pid)) {
		t.Error("their records are left")
	}
}

// clone is a repository, as far as its commands go.
type clone struct{ dir string }

func (c clone) CommonDir() string        { return c.dir }
func (c clone) MakeDir(dir string) error { return os.MkdirAll(dir, 0o755) }

var check = testrun.Check
