// Package board owns the meaning of a board: its records, its operations and all rules about them.
//
// A board is a fold over operations. Check decides whether an operation is allowed on a state,
// Apply computes the next state, and Step does both and checks the result against the transition
// table and the invariants. Each operation has one file, op_<name>.go, with its payload, its Check
// and its Apply.
//
// The package promises to be pure: no I/O, no clock, no randomness, no environment. Anything that
// an operation needs from outside (its time, a lease that was seen, a commit that was found) is
// part of the operation itself, so that a replay reaches the same decision.
//
// It may import gitboard/roles and gitboard/text.
package board
