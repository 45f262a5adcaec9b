// Package audit owns the proof of a board: Verify replays its history commit by commit, and Validate holds
// the board as it is now against its invariants and against the repository.
//
// It promises to tell three kinds of evidence apart. Proven is what follows from the board alone: the same
// Step that the command took, giving the same bytes. Checked is what was written down and is found in the
// repository: commits, ancestry, blobs. Attested is what only whoever did it has seen: that a worktree was
// clean, a test passed, a lease had run out. It promises too that nothing in a history makes it stop: what is
// broken becomes a finding, and the replay goes on from there. It changes no ref and nothing on the board.
//
// It may import gitboard/board, gitboard/codec, gitboard/git, gitboard/gitio, gitboard/oplog,
// gitboard/plain and gitboard/roles.
package audit
