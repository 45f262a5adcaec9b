// Package tty owns a terminal for a program that uses the whole screen: raw mode, the alternate
// screen, keys, the size. It promises that Close, which the caller defers, restores the terminal.
//
// It may import nothing of ours.
package tty

import (
	"bytes"
	"errors"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/term"
)

// Escape sequences to and from the terminal.
const (
	enter = "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[2J" // alternate screen, hidden cursor, bracketed paste
	leave = "\x1b[0m\x1b[?2004l\x1b[?25h\x1b[?1049l"
)

// Terminal is a terminal whose whole screen the program uses.
type Terminal struct {
	// Keys receives the pressed keys; it is closed with the terminal.
	Keys <-chan Key
	// Resized gets a value when the size has changed.
	Resized <-chan os.Signal

	in, out *os.File
	was     *term.State
	shown   []byte
	resized chan os.Signal
	done    chan struct{}
}

// ErrNone means that input or output is not a terminal.
var ErrNone = errors.New("this takes a terminal")

// Open takes over a terminal. It returns ErrNone if input or output is not a terminal.
func Open(in, out *os.File) (*Terminal, error) {
	if !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return nil, ErrNone
	}
	was, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	keys := make(chan Key)
	t := &Terminal{Keys: keys, in: in, out: out, was: was, resized: make(chan os.Signal, 1), done: make(chan struct{})}
	t.Resized = t.resized
	if _, err := out.WriteString(enter); err != nil {
		return nil, errors.Join(err, term.Restore(int(in.Fd()), was))
	}
	if len(resizes) > 0 {
		signal.Notify(t.resized, resizes...)
	}
	go t.read(keys)
	return t, nil
}

// Close restores the terminal.
func (t *Terminal) Close() error {
	signal.Stop(t.resized)
	close(t.done)
	_, err := t.out.WriteString(leave)
	return errors.Join(err, term.Restore(int(t.in.Fd()), t.was))
}

// Suspend restores the terminal and stops the program, as Ctrl-Z does elsewhere. It takes over the
// terminal again when the program continues.
func (t *Terminal) Suspend() error {
	_, err := t.out.WriteString(leave)
	if err := errors.Join(err, term.Restore(int(t.in.Fd()), t.was)); err != nil {
		return err
	}
	if err := stop(); err != nil {
		return err
	}
	if _, err := term.MakeRaw(int(t.in.Fd())); err != nil {
		return err
	}
	t.Forget()
	_, err = t.out.WriteString(enter)
	return err
}

// Size is the terminal's width and height in cells.
func (t *Terminal) Size() (width, height int, err error) { return term.GetSize(int(t.out.Fd())) }

// Draw shows the lines from the top in one write, unless they are shown already.
func (t *Terminal) Draw(lines []string) error {
	frame := []byte("\x1b[?2026h\x1b[H" + strings.Join(lines, "\x1b[K\r\n") + "\x1b[K\x1b[J\x1b[?2026l")
	if bytes.Equal(frame, t.shown) {
		return nil
	}
	t.shown = frame
	_, err := t.out.Write(frame)
	return err
}

// Forget makes the next Draw write its lines in any case, as needed after a change of size.
func (t *Terminal) Forget() { t.shown = nil }

func (t *Terminal) read(keys chan<- Key) {
	defer close(keys)
	var left []byte
	buffer := make([]byte, 256)
	for {
		n, err := t.in.Read(buffer)
		if err != nil {
			return
		}
		var found []Key
		found, left = parse(append(left, buffer[:n]...))
		for _, k := range found {
			select {
			case keys <- k:
			case <-t.done:
				return
			}
		}
	}
}
