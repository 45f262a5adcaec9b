// Package git holds the values of git that all of our packages share: object ids, objects, trees,
// commits, refs and their updates, and the names of the refs that the board uses. Package gitio
// moves them in and out of a repository.
//
// It promises that a ref's name is spelled here and nowhere else, and that decoding foreign bytes
// ends in an error, never in a panic. Only the object formats of go-git are used, never its storage.
//
// It is pure.
//
// It may import nothing of ours.
package git
