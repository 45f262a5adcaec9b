// Package loose reads and writes the files of single objects, without git (gitformat-loose).
//
// It promises that an object is flushed to disk before its file gets its name, and that a file which
// a crash has damaged is written again.
//
// It may import gitboard/git/disk and gitboard/git/plumbing.
package loose
