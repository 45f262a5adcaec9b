// Package gitenv decides which environment a child of git sees, and passes settings in it.
//
// It promises that the environment of this process (a hook, an alias, a shell) does not change on
// which repository a child works, and that no child gets the caller's private key or prompts.
//
// It may import nothing of ours.
package gitenv
