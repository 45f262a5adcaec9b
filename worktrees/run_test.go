package worktrees

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/hooks/install"
)

func TestRun(t *testing.T) {
	t.Setenv("GIT_DIR", "/nowhere")
	t.Setenv("LIZA_SESSION", "s")
	var out bytes.Buffer
	err := Run(context.Background(), Command{Name: "it", Script: `echo "$GIT_DIR$LIZA_SESSION$X" >&2; exit 4`, Dir: t.TempDir(), Env: []string{"X=x"}, Output: &out})
	var failed *FailedError
	if !errors.As(err, &failed) || failed.Exit != 4 || err.Error() != "it failed (exit 4)" || out.String() != "x\n" {
		t.Errorf("got %v, %q", err, out.String())
	}
	if err := Run(context.Background(), Command{Name: "it", Script: "true", Dir: filepath.Join(t.TempDir(), "none")}); err == nil || errors.As(err, &failed) && failed.Exit == 0 {
		t.Errorf("got %v", err)
	}
}

// TestRunHooked checks that git runs our hooks for a command that works on our repository, and only
// for such a one.
func TestRunHooked(t *testing.T) {
	ctx, s, _ := began(t)
	must(t, install.Install(ctx, s.repo, install.Setup{}))
	for repo, hooked := range map[*git.Repo]bool{s.repo: true, nil: false} {
		var out bytes.Buffer
		must(t, Run(ctx, Command{Name: "it", Script: `echo "$` + gitenv.ParametersVar + `"`, Dir: s.Root, Repo: repo, Output: &out}))
		if strings.Contains(out.String(), "liza/hooks") != hooked {
			t.Errorf("of our repository: %v, settings %q", hooked, out.String())
		}
	}
}

// TestNotOnRecord checks that a command does not run whose process can't be recorded: nobody could
// end what a killed merge leaves running.
func TestNotOnRecord(t *testing.T) {
	ctx, s, _ := began(t)
	ran := filepath.Join(t.TempDir(), "ran")
	must(t, os.MkdirAll(s.b.Dir(), 0o755))
	must(t, os.WriteFile(filepath.Join(s.b.Dir(), "commands"), nil, 0o644))
	err := Run(ctx, Command{Name: "it", Script: `: >"$RAN"`, Dir: s.Root, Env: []string{"RAN=" + ran}, Repo: s.repo})
	if err == nil || present(ran) {
		t.Errorf("it ran: %v; %v", present(ran), err)
	}
}

// TestOutcome checks what the end of a command means, in particular of one that left something
// running, which holds its output.
func TestOutcome(t *testing.T) {
	ctx := t.Context()
	late, stop := context.WithTimeout(ctx, 0)
	defer stop()
	why := errors.New("why")
	ended, end := context.WithCancelCause(ctx)
	end(why)
	exit := exec.Command("sh", "-c", "exit 3").Run()
	c := Command{Name: "it", Timeout: time.Second}
	for name, got := range map[string]struct {
		ctx, limited context.Context
		err          error
		want         string
	}{
		"it succeeded":                            {ctx, ctx, nil, ""},
		"it succeeded at the last moment":         {ctx, late, nil, ""},
		"it left something running":               {ctx, ctx, exec.ErrWaitDelay, ""},
		"it left something running, and was late": {ctx, late, exec.ErrWaitDelay, "it took longer than 1s"},
		"it was late":                             {ctx, late, exit, "it took longer than 1s"},
		"its caller left":                         {ended, ended, exit, "why"},
		"it failed":                               {ctx, ctx, exit, "it failed (exit 3)"},
		"it was not started":                      {ctx, ctx, os.ErrNotExist, "it: file does not exist"},
	} {
		err := c.outcome(got.ctx, got.limited, got.err)
		if (err == nil) != (got.want == "") || err != nil && err.Error() != got.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRunTooLong checks that all processes a command has started end with it.
func TestRunTooLong(t *testing.T) {
	testrun.NotShort(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Skipf("mkfifo: %v %s", err, out)
	}
	holds, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0) // does not wait for who writes
	must(t, err)
	defer holds.Close()
	start := time.Now()
	err = Run(context.Background(), Command{Name: "it", Script: "exec 3>'" + pipe + "'; (trap '' TERM; echo up >&3; exec sleep 300) & sleep 300", Timeout: time.Second})
	var failed *FailedError
	if !errors.As(err, &failed) || !failed.TimedOut || time.Since(start) > 2*time.Minute {
		t.Errorf("got %v after %s", err, time.Since(start))
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("why")
	time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
	testrun.ErrorIs(t, Run(ctx, Command{Name: "it", Script: "sleep 300"}), why, "got")
	// Nobody holds the other end any more: all have ended.
	must(t, holds.SetReadDeadline(time.Now().Add(time.Minute)))
	if said, err := io.ReadAll(holds); err != nil {
		t.Errorf("a child that says %q went on: %v", said, err)
	}
}

func TestTail(t *testing.T) {
	for _, c := range []struct {
		in, want string
		max      int
	}{
		{"", "", 10}, {"a\r\nb\n\n", "a\nb", 10}, {"one\ntwo\nthree", "three", 8}, {"éééé", "éé", 5},
		{"\x1b[31mred\u202e\xff", "[31mred\uFFFD", 20}, {strings.Repeat("x", 9) + "\ny", "y", 4},
	} {
		testrun.Equal(t, Tail(c.in, c.max), c.want, "Tail(%q, %d) =", c.in, c.max)
	}
}
