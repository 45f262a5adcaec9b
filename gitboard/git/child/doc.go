// Package child starts and ends git child processes.
//
// It owns their environment and lifetime, the long-lived `git cat-file --batch` (Batch), a
// transaction of `git update-ref` (Session), and the door that turns off programs which a
// repository's own settings name.
//
// It promises that a child never prompts, never opens an editor and never outlives its context, and
// that its failure is a CommandError.
//
// It may import gitboard/git/gitenv, gitboard/git/plumbing, gitboard/proc and gitboard/trace.
package child
