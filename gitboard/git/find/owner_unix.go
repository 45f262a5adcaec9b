//go:build unix

package find

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
	at := statOf(top)
	if at == nil || int(at.Uid) != os.Geteuid() {
		return false
	}
	for _, path := range others {
		if is := statOf(path); is == nil || is.Uid != at.Uid {
			return false
		}
	}
	for _, name := range strings.Split(within, string(filepath.Separator)) {
		top = filepath.Join(top, name)
		if is := statOf(top); is == nil || is.Dev != at.Dev {
			return false
		}
	}
	return true
}

// statOf returns what the system knows of a file, nil if it can't be read.
func statOf(path string) *syscall.Stat_t {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	stat, _ := info.Sys().(*syscall.Stat_t)
	return stat
}
