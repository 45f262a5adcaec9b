// Package find explains why git can't use the repository of a directory.
//
// It may import gitboard/git/gitenv, gitboard/git/plumbing and gitboard/git/records.
package find
