//go:build !linux

package supervisor

// kin is a process. Nothing is known here of what an agent has started outside of its own group.
type kin struct{ pid int }

func (kin) lives() bool { return false }

func descendants(int) []kin { return nil }

func marked(string) []kin { return nil }
