// Package supervisor owns the loop around one agent: it registers the agent, waits for work, claims
// it, runs the agent, sends its heartbeats, lands approved work, and ends it.
//
// Pure functions of observation (Look) and memory (Memory) decide what to do: Next chooses the
// next step, Oversee decides when a running agent must end, and Memory.Learn draws conclusions from
// the end of a run. The rest carries out their decisions. It promises: no run starts while the
// board or this clone is stopped; after losing its lease it changes nothing on the board and leaves
// no process; crashes, fruitless runs and failed claims are counted and limited, so it never loops
// for ever. Executor does worktrees and merges.
//
// It may import forge, gitboard, gitboard/board, gitboard/cmdline, gitboard/commands, gitboard/git,
// gitboard/git/gitenv, gitboard/git/plumbing, gitboard/git/records, gitboard/lease, gitboard/log,
// gitboard/proc, gitboard/queue, gitboard/report, gitboard/roles, gitboard/text, gitboard/watch,
// roles/clis, roles/process, roles/prompt and roles/transcript.
package supervisor
