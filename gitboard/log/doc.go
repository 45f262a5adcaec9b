// Package log owns the log of operations: the branch refs/heads/liza/state, read at a commit and
// appended to by compare-and-swap.
//
// One operation is one commit. Prepare checks it (board.Step), Build encodes what it changed, and a
// Log appends it, together with all other refs that belong to it, in one transaction. The result is
// an Outcome: done, lost, unclear, refused or rewritten. There is no other way to write to a board.
// Local is the log in any store; a clone's log is share.Store. A Reader reads boards from any store.
//
// It may import gitboard/board, gitboard/git, gitboard/git/plumbing, gitboard/log/codec,
// gitboard/roles and gitboard/sshsig.
package log
