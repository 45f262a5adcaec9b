// Package board owns the meaning of a board: its records, its operations and every rule about them.
//
// A board is a fold over operations. Check says whether an operation is allowed on a state, Apply
// gives the next state, Step does both and checks the result against the transition table and the
// invariants. Each operation has one file, op_<name>.go, with its payload, its Check and its Apply.
//
// The package promises to be pure: no I/O, no clock, no randomness, no environment. What an
// operation needs from outside (its time, a lease that was seen, a commit that was found) stands in
// the operation itself, so that whoever replays it decides the same.
//
// It may import gitboard/plain and gitboard/roles.
package board
