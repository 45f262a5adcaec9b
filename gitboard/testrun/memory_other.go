//go:build !linux

package testrun

// InMemory does nothing: only Linux always has a file system in memory.
func InMemory() {}
