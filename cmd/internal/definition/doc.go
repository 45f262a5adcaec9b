// Package definition holds what add-task, amend-task and finalize share: the flags that define a
// task, and how a task is finalized.
//
// It may import cmd/internal/edge, gitboard, gitboard/board and gitboard/git.
package definition
