// Package gitboard is the face of a board for programs: open a repository, look at the board, ask for an
// operation.
//
// It owns the loop that decides an intent on the newest tip, appends it, and decides again when the race
// was lost; the turn in which processes of one clone append; the renewal and the fencing of leases; and this
// clone's own small files (clone id, sessions) under <common git dir>/liza. Clock and randomness come in
// through Options.
//
// It may import gitboard/board, gitboard/codec, gitboard/git, gitboard/gitio, gitboard/lease,
// gitboard/oplog, gitboard/plain, gitboard/remote, gitboard/report, gitboard/roles and
// gitboard/sshsig.
package gitboard
