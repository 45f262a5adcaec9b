// Package signing finds the key with which an operation is signed: a file, git's settings or the
// ssh-agent, and for the agent of a supervisor a key that is made for its session. No private key
// leaves it.
//
// It may import cmd/internal/edge, gitboard, gitboard/board, gitboard/plain, gitboard/roles,
// gitboard/sshsig and roles/supervisor.
package signing
