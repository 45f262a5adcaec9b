//go:build !linux

package proc

import (
	"errors"
	"os"
	"time"
)

// Table is a directory with the process table; there is none on this system.
type Table string

// Running stands for the running processes.
const Running Table = ""

// All returns nothing: no process is visible.
func (Table) All() []Process { return nil }

// Find finds no process.
func Find(int) (Process, bool) { return Process{}, false }

// Process is a running process; this system shows no processes.
type Process struct {
	PID, Parent, Group int
	Name               string
	Started            time.Duration
}

// Words returns nothing.
func (Process) Words() []string { return nil }

// Environ returns nothing.
func (Process) Environ() []string { return nil }

// Dir always fails.
func (Process) Dir() (string, error) { return "", errors.ErrUnsupported }

// User is always unknown.
func (Process) User() int { return -1 }

// UserOf is always unknown.
func UserOf(os.FileInfo) int { return -1 }

// Uptime is always 0.
func Uptime() time.Duration { return 0 }

// Space is always "": there is only one.
func Space() string { return "" }

// Of is always "".
func Of(int) ID { return "" }

func endedBeside(_, _ ID) bool { return false }

// OnEnd always returns nil: no process is watched.
func OnEnd(ID, func()) (stop func()) { return nil }
