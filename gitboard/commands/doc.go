// Package commands knows the commands of the project that run in a clone.
//
// Commands of the project, such as the integration test, run code that agents wrote. Each is the leader
// of a process group, and is on record in liza/commands/PID for as long as a process of that group
// runs: its ID and, while a process waits for it, that process and the directory in which it was
// started. The waiting process also holds the file (queue.Hold), for processes that can't see it.
//
// It may import gitboard/git/disk, gitboard/git/locks, gitboard/proc and gitboard/queue.
package commands
