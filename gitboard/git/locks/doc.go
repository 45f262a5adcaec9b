// Package locks knows the lock files of gits that work on a repository, and who holds them.
//
// Git takes a lock by creating a file <name>.lock. A git that is killed leaves it behind, and then
// no process can write the file that it protects until someone removes it. A lock is stale if no
// process remains that may have made it: a git that works on this repository, runs as the owner of
// the file, and was running when the lock was first seen. If processes are not visible, no lock is
// removed.
//
// It promises that of several processes of git liza one at a time removes a lock, and none removes a
// lock that another writer has taken since the stale one was removed.
//
// It may import gitboard/git/disk, gitboard/proc and gitboard/queue.
package locks
