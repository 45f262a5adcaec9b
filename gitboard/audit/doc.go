// Package audit owns the proof of a board: Verify replays its history commit by commit, and
// Validate checks the current board against its invariants and the repository.
//
// It promises to distinguish three kinds of evidence. Proven is what follows from the board alone:
// the same Step that the command took gives the same bytes. Checked is recorded evidence that is
// found in the repository: commits, ancestry, blobs. Attested is what only the actor has seen: that
// a worktree was clean, a test passed, a lease had expired. A broken commit is a finding, and ends the
// replay: its parent is the last board to trust. It changes no ref and nothing on the board.
//
// It may import gitboard/board, gitboard/git, gitboard/git/plumbing, gitboard/landed, gitboard/log,
// gitboard/log/codec, gitboard/roles and gitboard/text.
package audit
