//go:build unix && !linux

package proc

import "syscall"

// GroupLives reports whether a process of a group exists.
func GroupLives(group int) bool { return syscall.Kill(-group, 0) == nil }
