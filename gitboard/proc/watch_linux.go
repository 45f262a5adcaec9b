package proc

import (
	"os"
	"syscall"
)

// pidfdOpen is the number of the system call (pidfd_open(2), Linux 5.3).
const pidfdOpen = 434

// OnEnd calls f once the process with that ID has ended. stop ends the watch; afterwards f may still
// be called once. stop is nil if the system can't report the end of that process.
func OnEnd(id ID, f func()) (stop func()) {
	pid := id.PID()
	if !id.Runs() {
		return nil
	}
	fd, _, failed := syscall.Syscall(pidfdOpen, uintptr(pid), syscall.O_NONBLOCK, 0)
	if failed != 0 {
		return nil
	}
	file := os.NewFile(fd, "process "+string(id))
	raw, err := file.SyscallConn()
	if err != nil {
		_ = file.Close()
		return nil
	}
	go func() {
		// It becomes readable when the process ends. Its number may have become another one's before
		// it was opened.
		if raw.Read(func(uintptr) bool { return !id.Runs() }) == nil {
			f()
		}
		_ = file.Close()
	}()
	return func() { _ = file.Close() }
}
