// Package share shares a board with other clones. The refs of the remote decide which operations
// count.
//
// A Store takes the place of the repository, and is the board's log. It reads this clone's own refs,
// as Fetch last updated them. It writes to the remote first, all refs of an operation in one push,
// and updates the local refs only to values that the remote has taken. A rejected push is therefore a
// lost compare-and-swap.
//
// Processes of one clone do not push one by one. Each appends what it has decided to a pending
// chain (chain), which is kept in a file and replaced only by compare-and-swap; the next process
// decides on top of it. When a push ends, one of the waiting processes pushes everything pending,
// with all its refs, and records the outcome for the others. No operation is acknowledged before
// the remote has taken its commit. A chain is void as soon as the board moves to a commit that is
// not in it, unless the remote sequences; a process that dies leaves its transactions to the others.
// Locks and the records of earlier pushes (record, earlier) only improve order and speed: without them
// each process learns the outcome from the refs, and from the id of its request whether it was done
// before.
//
// Shared are the board, the integration branch, leases, submissions, and task branches that an
// operation publishes. Where the remote has integration and each task branch is remembered below
// refs/liza/remotes/<name>/. Hosts that accept only branches have other names and forms for all of
// this (branches.go).
//
// A remote whose server sequences (parcel) is passed the chain as one commit instead. The server
// decides its operations on the board that it has then, so clones don't lose races against each
// other: what it took may be on the board as other commits, which their callers find by the ids of
// their requests. Its answer brings what the clone lacks (learn), so that only what needs other
// objects takes a fetch. What was decided while a parcel was on its way stays pending for the next
// one.
//
// It may import gitboard/board, gitboard/git, gitboard/git/disk, gitboard/git/plumbing,
// gitboard/lease, gitboard/log, gitboard/log/codec, gitboard/parcel, gitboard/queue,
// gitboard/retry, gitboard/text and gitboard/trace.
package share
