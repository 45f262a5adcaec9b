package call

import (
	"os"
	"testing"

	"github.com/creack/pty"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

func TestTerminal(t *testing.T) {
	host, tty, err := pty.Open()
	if err != nil {
		t.Skip("no terminal can be had: ", err)
	}
	defer host.Close()
	defer tty.Close()
	env := map[string]string{}
	c := &Call{App: &App{Stdin: tty, Getenv: func(name string) string { return env[name] }}}
	if _, err := os.Stat("/proc/self/fd"); err == nil && c.App.Process().Terminal != tty.Name() {
		t.Errorf("at %s: %q", tty.Name(), c.App.Process().Terminal)
	}
	env["TTY"] = "/dev/console"
	if got := c.App.Process().Terminal; got != "/dev/console" {
		t.Errorf("TTY says /dev/console: %q", got)
	}
	delete(env, "TTY")
	file := testrun.Must(os.Open(os.DevNull))(t)
	defer file.Close()
	c.App.Stdin = file
	if got := c.App.Process().Terminal; got != "" {
		t.Errorf("without a terminal: %q", got)
	}
}
