// Package proc knows the processes of this machine: which ones run, whether one is still the same,
// and how to end a group of them.
//
// It owns the only reader of /proc and the only form of a process's identity (ID). On a system
// without /proc no process is visible, has an identity, or is known as ended.
//
// It may import nothing of ours.
package proc
