//go:build !linux

package testrun

// inMemory does nothing: only Linux always has a file system in memory.
func inMemory() {}
