// Package receipt shows a stranger, from a clone alone, that commits obeyed the rules of their
// board: Check replays the board of a range of integration and looks up who wrote, approved, tested
// and merged each of its commits.
//
// It promises that the board decides, not the receipt: whatever can't be checked is a failure, a
// policy is read at the start of the range, and the board is the one that the remote has, not one
// that a branch under review brings.
//
// It may import gitboard/audit, gitboard/board, gitboard/git, gitboard/git/plumbing,
// gitboard/landed, gitboard/log, gitboard/roles, gitboard/sshsig and gitboard/text.
package receipt
