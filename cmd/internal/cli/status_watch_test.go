//go:build unix

package cli

import (
	"context"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestWatchPanics: a panic, too, leaves the terminal as it was.
func TestWatchPanics(t *testing.T) {
	l := newLife(t)
	l.liza("", "init", "--unattended", "A calculator")
	host, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pty here: %v", err)
	}
	defer host.Close()
	defer tty.Close()
	before := testrun.Must(term.GetState(int(tty.Fd())))(t)
	said := make(chan string)
	var shown atomic.Bool // the board is on the screen
	go func() {
		var all strings.Builder
		buffer := make([]byte, 1<<16)
		for !strings.Contains(all.String(), "\x1b[?1049l") {
			n, err := host.Read(buffer)
			if err != nil {
				break
			}
			all.Write(buffer[:n])
			shown.Store(strings.Contains(all.String(), "Waiting: you 1"))
		}
		said <- all.String()
	}()
	app := l.app("", nil, os.Stderr)
	app.Stdin, app.Stdout = tty, tty
	app.Now = func() time.Time {
		if shown.Load() {
			panic("the clock has stopped")
		}
		return l.now
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is swallowed")
			}
		}()
		Run(context.Background(), app, []string{"status", "--watch"})
	}()
	select {
	case all := <-said:
		if !strings.Contains(all, "\x1b[?1049h") || !strings.Contains(all, "Waiting: you 1") {
			t.Errorf("there was no screen to leave: %q", all)
		}
	case <-time.After(time.Minute):
		t.Fatal("the alternate screen was not left")
	}
	after := testrun.Must(term.GetState(int(tty.Fd())))(t)
	if !reflect.DeepEqual(after, before) {
		t.Errorf("the terminal was %+v and is %+v", before, after)
	}
}
