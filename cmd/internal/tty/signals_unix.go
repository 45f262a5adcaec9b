//go:build unix

package tty

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

var resizes = []os.Signal{syscall.SIGWINCH}

// stop stops the process group, including the git that started us, and returns when a shell
// continues it. If no shell could do that, the signal has no effect.
func stop() error {
	on := make(chan os.Signal, 1)
	signal.Notify(on, syscall.SIGCONT)
	defer signal.Stop(on)
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return err
	}
	select {
	case <-on:
	case <-time.After(time.Second):
	}
	return nil
}
