package edge

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// OutlivePipes lets a command continue when nobody reads any more what it prints, as behind `| head`: a
// merge that ends in the midst of its test is worse than words unread.
func (a *App) OutlivePipes() {
	// Not Ignore, which the commands that we run would inherit.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	a.Stdout, a.Stderr = outliving(a.Stdout), outliving(a.Stderr)
}

func outliving(w io.Writer) io.Writer {
	f, ok := w.(*os.File)
	if !ok {
		return w
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return w
	}
	return &Unread{Writer: f}
}

// Unread is a pipe that swallows what its reader no longer wants.
type Unread struct {
	io.Writer
	Gone bool // the reader
}

// Write implements io.Writer.
func (u *Unread) Write(p []byte) (int, error) {
	n, err := u.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		u.Gone = true
		return len(p), nil
	}
	return n, err
}
