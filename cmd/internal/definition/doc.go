// Package definition holds what commands share that define tasks and goals: the flags that define a
// task, how a task is finalized, and where specs are looked up.
//
// It may import cmd/internal/call, gitboard, gitboard/board, gitboard/git, gitboard/git/plumbing,
// gitboard/report and gitboard/text.
package definition
