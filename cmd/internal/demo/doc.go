// Package demo plays a whole run of `git liza` in its own repository: real git, real worktrees,
// real tests, and every agent a separate process that runs the commands an agent would.
//
// Run is the stage: it creates the repository, starts the agents, gives them orders and narrates
// what happens. Play is an agent: the same binary started with --play, which reads orders as lines
// of JSON, carries them out with `git liza`, git and go, and answers with what it typed and what
// came out. Nothing waits for a clock: an order ends with its answer.
//
// The package starts programs and reads the environment. It uses little else of the project, so
// that it sees the board as a user does: through the command line and git.
//
// It may import gitboard/proc.
package demo
