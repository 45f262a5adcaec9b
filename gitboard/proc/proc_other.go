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

// Birth is always "": processes with the same number can't be distinguished.
func Birth(int) string { return "" }

// Space is always "": there is only one.
func Space() string { return "" }

// ID is always "".
func ID(int) string { return "" }

// This is always "".
func This() string { return "" }

// Ended is always false: processes are unknown.
func Ended(string) bool { return false }

// OnEnd always returns nil: no process is watched.
func OnEnd(string, func()) (stop func()) { return nil }
