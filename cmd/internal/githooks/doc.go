// Package githooks answers git's hooks: it finds out who runs git, asks package hooks or a server's
// policies, and tells git whether to go on.
//
// It may import cmd/internal/call, cmd/internal/setup, gitboard, gitboard/board, gitboard/cmdline,
// gitboard/git/plumbing, gitboard/lease, gitboard/text, hooks and hooks/server.
package githooks
