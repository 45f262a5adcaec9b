//go:build unix

package tty

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

var resizes = []os.Signal{syscall.SIGWINCH}

// stop stops the process group, git that started us included, and returns when a shell continues it. Where no shell
// could, the signal does nothing.
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
