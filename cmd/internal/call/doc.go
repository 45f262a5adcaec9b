// Package call is one run of a command in its process: clock, randomness, environment, terminal,
// paths, printing and exit codes. A Call has its flags and arguments, what it opens, who asks, and
// how it answers a human or, with --json, a program.
//
// It is below every other package of cmd/internal, contains no rules and names no command.
//
// It may import gitboard, gitboard/board, gitboard/cmdline, gitboard/git, gitboard/git/gitenv,
// gitboard/git/plumbing, gitboard/lease, gitboard/log, gitboard/log/codec, gitboard/report,
// gitboard/retry, gitboard/roles, gitboard/share, gitboard/sshsig, gitboard/text, roles/supervisor
// and worktrees.
package call
