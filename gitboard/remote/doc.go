// Package remote shares a board with other clones: the refs of a remote are the judges of what stands.
//
// A Store stands where else the repository does. What it reads are this clone's own refs, as Fetch last brought
// them; what it writes it pushes first, all refs of an operation at once, and only what the remote has taken
// comes to stand here. So a push that is rejected is a compare-and-swap that was lost.
//
// Processes of one clone don't push one after the other. What each has decided is appended to a chain that is pending
// (chain), which a ref of this clone holds and only compare-and-swap moves; the next is decided on its end. The first
// to come after a push pushes all of it, with all its refs, and tells the others. None is acknowledged before the
// remote has taken its commit. A chain is void as soon as the board moves to anything that is not in it; a process that
// dies leaves its part of it to the others. Locks and the notes of what was pushed (outcome, place) serve
// order and time alone: without them each finds out by the refs, and by its request's id whether it was done before.
//
// Shared are the board, the integration branch, leases, submissions, and the branches of tasks where an
// operation publishes them. Where the remote has integration and a task's branch is remembered below
// refs/liza/remotes/<name>/.
//
// It may import gitboard/board, gitboard/git, gitboard/gitio, gitboard/lease, gitboard/oplog and
// gitboard/plain.
package remote
