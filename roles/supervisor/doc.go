// Package supervisor owns the loop around one agent: it registers it, waits for work, claims for it, runs
// it, beats its heart, lands what its reviewer approved, and ends it.
//
// What to do next is decided by pure functions of what is seen (Look) and what is remembered (Memory): Next
// chooses the step, Oversee watches over an agent at work, Memory.Learn draws the conclusions from its end.
// The rest carries that out. It promises that nothing is started while the board or this clone is stopped,
// that after its lease was taken it does nothing to the board and leaves no process behind, and that it
// never runs in circles: crashes, fruitless runs and failed claims are counted and have an end. Worktrees and merges it knows through Executor.
//
// It may import gitboard, gitboard/board, gitboard/git, gitboard/gitio, gitboard/lease,
// gitboard/oplog, gitboard/plain, gitboard/report, gitboard/roles, roles/clis, roles/prompt and
// roles/transcript.
package supervisor
