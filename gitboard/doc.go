// Package gitboard is the board's interface for programs: open a repository, view the board,
// request an operation.
//
// It owns the loop that decides an intent on the tip, appends the operation, and retries a lost
// race; the queue in which processes of one clone take turns to append; the renewal and fencing of
// leases; and this clone's own small files (clone id, sessions) under <common git dir>/liza. Clock
// and randomness come in through Options.
//
// It may import gitboard/board, gitboard/git, gitboard/git/disk, gitboard/git/plumbing,
// gitboard/landed, gitboard/lease, gitboard/log, gitboard/log/codec, gitboard/queue,
// gitboard/report, gitboard/retry, gitboard/roles, gitboard/share, gitboard/sshsig, gitboard/text
// and gitboard/trace.
package gitboard
