//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// processorTime is the time used by all ended children and theirs: a hub on this machine, too.
func processorTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// peakMemory is how many bytes an ended process had in memory at most.
func peakMemory(p *os.ProcessState) int64 {
	used, is := p.SysUsage().(*syscall.Rusage)
	if !is {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return used.Maxrss
	}
	return int64(used.Maxrss) << 10
}
