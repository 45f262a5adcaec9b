// Package merge brings approved work to the integration branch, and records it.
//
// It owns the candidate (computed from the trees, no checkout involved), its test in the kept worktree
// .worktrees/.integration, the lease by which at most one merge runs per board, the one transaction that
// moves integration and board, and the steps that bring checkouts of integration forward. A crash between
// integration's move and the board's is finished by Finish, proved by ancestry.
//
// It promises that nothing moves before the test has passed, and that no checkout but those of the
// integration branch is touched; those only where no local change is in the way.
//
// It may import gitboard, gitboard/board, gitboard/git, gitboard/gitio, gitboard/lease,
// gitboard/oplog, gitboard/plain, gitboard/roles and worktrees.
package merge
