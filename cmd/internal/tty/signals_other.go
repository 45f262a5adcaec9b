//go:build !unix

package tty

import "os"

// No signal reports a new size here; the next frame sees it.
var resizes []os.Signal

// Nothing stops a process here and continues it.
func stop() error { return nil }
