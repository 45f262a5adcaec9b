// Package roles holds everything that turns a process into an agent: its prompts (prompt), how its
// CLI is called (clis), its transcript (transcript) and the loop that runs it (supervisor).
//
// It has no code. The names of the roles and the form of agent ids are in gitboard/roles, and what
// a role may do is a column of the table of operations in gitboard/board.
//
// It may import nothing of ours.
package roles
