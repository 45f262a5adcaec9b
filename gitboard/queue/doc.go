// Package queue queues up processes of one clone by an advisory file lock, which ends with its
// process. It gives order and fairness, and no caller may depend on it: a caller that can't get the
// lock in time continues without it. Compare-and-swap of refs is what keeps writers apart.
//
// It owns the locks of files, and the only loop that waits for one with patience. Hold is no queue:
// with it a process shows that it is alive.
//
// It may import nothing of ours.
package queue
