// Package cli is the command line: one file a command, from flags to a typed request to one call to what
// is printed. All wiring of clock, randomness, environment and terminal is here; no rule is.
//
// Every command prints for two readers: a human, and with --json a program, whose fields are stable. The
// package may import everything.
package cli
