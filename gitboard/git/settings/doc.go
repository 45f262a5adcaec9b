// Package settings reads a repository's own config file without git.
//
// It may import nothing of ours.
package settings
