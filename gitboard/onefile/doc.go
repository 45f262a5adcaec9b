// Package onefile reads and writes a board in the form of the one-file version of this protocol: a
// state.yaml with everything that is, and a log.yaml with what was done. It is pure. What it reads
// may be old, edited by hand or damaged: it makes a valid board of it and reports what it could not
// keep, or the line at which it gave up.
//
// It may import gitboard/board, gitboard/codec, gitboard/plain and gitboard/roles.
package onefile
