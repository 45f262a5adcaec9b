// Package cli is the command line: one file a command, from flags to a typed request to one call to what
// is printed. The wiring of clock, randomness, environment and terminal is in edge; no rule is here.
//
// Every command prints for two readers: a human, and with --json a program, whose fields are stable.
//
// It may import everything of ours.
package cli
