//go:build unix

package gitio

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ours reports whether this process's user owns a worktree's directory, its .git and its git
// directory, and start is on the worktree's file system. Otherwise git may refuse the repository.
func ours(start, top string, others ...string) bool {
	within, err := filepath.Rel(top, start)
	if err != nil {
		return false
	}
	at, device := statOf(top)
	if at == nil || int(at.Uid) != os.Geteuid() {
		return false
	}
	for _, path := range others {
		if is, _ := statOf(path); is == nil || is.Uid != at.Uid {
			return false
		}
	}
	for _, name := range strings.Split(within, string(filepath.Separator)) {
		top = filepath.Join(top, name)
		if is, on := statOf(top); is == nil || on != device {
			return false
		}
	}
	return true
}

// statOf returns what the system knows of a file, nil if it can't be read, and its file system.
func statOf(path string) (*syscall.Stat_t, uint64) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, 0
	}
	stat, is := info.Sys().(*syscall.Stat_t)
	if !is {
		return nil, 0
	}
	return stat, uint64(stat.Dev)
}
