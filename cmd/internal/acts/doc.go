// Package acts carries out what a human asks for: each act is one function, which a command, a form
// of the web board and a key of the screen call with a typed request, and whose error is a value.
// Acts that are one operation with a known payload are call.Call's Doing and Ending.
//
// It may import cmd/internal/call, cmd/internal/definition, gitboard, gitboard/board,
// gitboard/git/plumbing, gitboard/report, gitboard/roles, gitboard/text, gitboard/watch, roles/clis
// and worktrees.
package acts
