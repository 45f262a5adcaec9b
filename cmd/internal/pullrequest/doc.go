// Package pullrequest offers a goal's work to the project's main branch at a host, and brings back
// the host's reviews and failed checks.
//
// It decides which commit is offered, writes the text of the pull request from the board, and reads
// from git alone whether the work was merged. Errors of a host become refusals (exit code 1) or
// outcomes of exit code 3; a token is in none of them.
//
// It may import cmd/internal/call, cmd/internal/start, forge, gitboard, gitboard/audit,
// gitboard/board, gitboard/git, gitboard/git/plumbing, gitboard/landed, gitboard/lease,
// gitboard/proc and gitboard/text.
package pullrequest
