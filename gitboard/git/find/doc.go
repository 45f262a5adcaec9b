// Package find finds the repository of a directory, and explains why git can't use one, without git.
//
// It may import gitboard/git/gitenv, gitboard/git/plumbing, gitboard/git/records and
// gitboard/git/settings.
package find
