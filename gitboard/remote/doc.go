// Package remote shares a board with other clones: the refs of a remote are the judges of what stands.
//
// A Store stands where else the repository does. What it reads are this clone's own refs, as Fetch last brought
// them; what it writes it pushes first, all refs of an operation at once, and only what the remote has taken
// comes to stand here. So a push that is rejected is a compare-and-swap that was lost.
//
// Shared are the board, the integration branch, leases, submissions, and the branches of tasks where an
// operation publishes them. Where the remote has integration and a task's branch is remembered below
// refs/liza/remotes/<name>/.
//
// It may import gitboard/board, gitboard/git, gitboard/gitio, gitboard/lease, gitboard/oplog and
// gitboard/plain.
package remote
