//go:build !unix

package tty

import "os"

// Nothing tells of a new size here; the next frame sees it.
var resizes []os.Signal
