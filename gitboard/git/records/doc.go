// Package records reads and writes git's records of linked worktrees, without git.
//
// Git keeps a record of each linked worktree, a directory with its HEAD, index, reflog and the
// repositories of its submodules (gitrepository-layout, worktrees/<id>). The record and the file .git
// of the worktree name each other. A crash may leave files of a record empty. The content of the other
// files is then still somebody's work.
//
// It may import gitboard/git/disk and gitboard/git/plumbing.
package records
