//go:build unix

package cli

import (
	"context"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
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
	before, err := term.GetState(int(tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan string)
	go func() {
		var all strings.Builder
		buffer := make([]byte, 1<<16)
		for !strings.Contains(all.String(), "\x1b[?1049l") {
			n, err := host.Read(buffer)
			if err != nil {
				break
			}
			all.Write(buffer[:n])
		}
		said <- all.String()
	}()
	app := l.app("", nil, os.Stderr)
	app.Stdin, app.Stdout = tty, tty
	looks := 0
	app.Now = func() time.Time {
		if looks++; looks > 2 { // already on the screen
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
	after, err := term.GetState(int(tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(after, before) {
		t.Errorf("the terminal was %+v and is %+v", before, after)
	}
}
