// Package worktrees carries out operations that also touch a task's worktree .worktrees/<task>, its
// branch task/<task>, its kept submissions refs/liza/review/<task>/<n> and the attic
// refs/liza/attic/<task>/<n>.
//
// It owns the evidence that such an operation needs (a worktree is clean, a branch is where it
// should be), the other refs that move in the operation's transaction, and the repeatable steps
// before and after it. It contains no rule of the protocol: those are in
// board's Check. Package doctor finds the steps that a crash left unfinished.
//
// It promises not to destroy anything that a person could want: before a branch is dropped or
// reset, or a worktree removed, commits that integration lacks and uncommitted files go to the
// attic. Ignored files go there, too, unless they are easily made again (attic_skip) or too large
// (attic_max_mb). It never changes a human's checkout, and never removes a worktree that it did not
// make, wherever it lies.
//
// It may import forge, gitboard, gitboard/board, gitboard/commands, gitboard/git,
// gitboard/git/disk, gitboard/git/gitenv, gitboard/git/plumbing, gitboard/git/records,
// gitboard/log, gitboard/proc, gitboard/roles, gitboard/text and hooks/install.
package worktrees
