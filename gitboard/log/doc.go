// Package log owns the log of operations: the branch refs/heads/liza/state, read at a commit and
// appended to by compare-and-swap.
//
// One operation is one commit. Append checks it (board.Step), encodes what it changed, writes the
// objects and moves the ref, together with all other refs that belong to the operation, in one
// transaction. There is no other way to write to a board. The same Log works on a git repository
// and in memory, and one conformance suite tests both.
//
// It may import gitboard/board, gitboard/git, gitboard/git/plumbing, gitboard/log/codec,
// gitboard/roles and gitboard/sshsig.
package log
