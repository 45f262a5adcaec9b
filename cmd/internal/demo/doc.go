// Package demo plays a whole run of `git liza` in its own repository: real git, real worktrees,
// real tests, and every agent a shell of its own that runs the commands an agent would.
//
// steps.txt is the run: a title, and command lines with who types them. The package runs them,
// prints them with their output, and stops at the first that ends otherwise than the list expects.
//
// It starts programs and reads the environment. It sees the board as a user does: through the
// command line and git.
//
// It may import gitboard/proc.
package demo
