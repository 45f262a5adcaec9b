// Package disk adds the file operations that package git needs and os lacks: to replace a file in a
// step, to move a directory to another disk, to remove one that is read-only, to name a disk that
// takes no more (StorageError), and to be woken when a file is replaced.
//
// It promises that no process reads half of a replaced file, and that nothing is left of a copy that
// failed.
//
// It may import nothing of ours.
package disk
