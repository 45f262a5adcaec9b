//go:build !linux

package supervisor

// kin is a process. On this system, nothing is known of processes that an agent started outside its
// own group.
type kin struct{ pid int }

func (kin) lives() bool { return false }

func descendants(int) []kin { return nil }

func marked(string) []kin { return nil }
