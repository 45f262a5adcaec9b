//go:build !unix

package gitio

// ours is left to git.
func ours(string, string, ...string) bool { return false }
