// Package network tells what became of a git child that talks to another repository, and lets it use ssh
// without a prompt.
//
// It may import gitboard/git/child and gitboard/git/gitenv.
package network
