package testrun

import (
	"os"
	"syscall"
)

// inMemory keeps the temporary files of a package's tests in memory, where there is room and TMPDIR
// is not set. Tests make thousands of short-lived small files, which costs a disk more time than
// all their other work.
func inMemory() {
	const dir, room = "/dev/shm", 4 << 30 // bytes
	var s syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(dir, &s) != nil || s.Bavail*uint64(s.Bsize) < room {
		return
	}
	if probe, err := os.MkdirTemp(dir, "liza-"); err == nil && os.Remove(probe) == nil {
		os.Setenv("TMPDIR", dir)
	}
}
