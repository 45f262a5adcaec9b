// Package merge merges approved work into the integration branch and records it.
//
// It owns the candidate (computed from trees, without a checkout), its test in the kept
// worktree of TestDir, the lease that allows only one merge per board at a time, the one
// transaction that moves integration and board, and the steps that update checkouts of integration.
// If a crash separates integration's move from the board's, Finish completes it, with ancestry as
// proof.
//
// It promises that no ref moves before the test has passed, and that it touches only checkouts of
// the integration branch, and those only if no local change is in the way.
//
// It may import gitboard, gitboard/board, gitboard/cmdline, gitboard/commands, gitboard/git,
// gitboard/git/disk, gitboard/git/plumbing, gitboard/git/records, gitboard/landed, gitboard/lease,
// gitboard/log, gitboard/proc, gitboard/roles, gitboard/text, worktrees and worktrees/doctor.
package merge
