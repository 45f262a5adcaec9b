package call

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// OutlivePipes lets a command continue when its output has no reader any more, as with `| head`: a
// merge that ends during its test would be worse than unread output.
func (a *App) OutlivePipes() {
	// Not Ignore, which child processes would inherit.
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

// Unread is a pipe that discards what its reader no longer wants.
type Unread struct {
	io.Writer
	Gone bool // the reader closed the pipe
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
