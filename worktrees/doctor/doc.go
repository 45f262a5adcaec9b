// Package doctor compares a clone with its board. Diagnose finds the unfinished steps of a crash, and
// damage. A problem that a kill, a power cut or a garbage collection can cause has a repair, which
// brings the clone in line with the board and can be repeated. Other damage is named with the way out:
// a fetch, another clone, a command of git.
//
// It removes no work: the steps of package worktrees, which repair, put it into the attic.
//
// It may import gitboard, gitboard/board, gitboard/cmdline, gitboard/git, gitboard/git/disk,
// gitboard/git/plumbing, gitboard/git/records, gitboard/lease, gitboard/text and worktrees.
package doctor
