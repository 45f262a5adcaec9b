// Package plumbing holds the git values that all of our packages share: object ids, objects, trees,
// commits, refs and their updates, and the names of the refs that the board uses. Package git
// moves them in and out of a repository.
//
// It promises that ref names are spelled here and nowhere else, and that decoding foreign bytes
// returns an error and never panics. It uses only the formats of go-git, and of its storage only
// that in memory, out of which a pack is encoded.
//
// It is pure.
//
// It may import nothing of ours.
package plumbing
