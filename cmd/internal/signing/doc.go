// Package signing finds the key that signs an operation: a file, git's settings or the ssh-agent,
// and for the agent of a supervisor a key created for its session. No private key leaves the
// package.
//
// It may import cmd/internal/call, gitboard, gitboard/board, gitboard/git/plumbing, gitboard/roles,
// gitboard/sshsig, gitboard/text and roles/supervisor.
package signing
