// Package cli is the command line, with one file per noun: flags become a typed request, then
// one call, then output. Clock, randomness, environment and terminal are in call; this package
// contains no rules.
//
// Every command prints for two readers: for a human, and with --json for a program, with stable
// fields.
//
// It may import everything of ours.
package cli
