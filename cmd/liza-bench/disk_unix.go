//go:build unix

package main

import (
	"os"
	"syscall"
)

// diskBytes is how much a file fills on the disk.
func diskBytes(info os.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return info.Size()
}
