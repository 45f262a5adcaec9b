//go:build !unix

package tty

import "os"

// resizes is empty: no signal reports a new size on this system, so the next frame finds out.
var resizes []os.Signal

// stop does nothing: a process can't be suspended on this system.
func stop() error { return nil }
