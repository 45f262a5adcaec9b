// Package roles is the folder of everything that turns a process into an agent: what it is told (prompt), how its
// program is called (clis), what it writes (transcript) and the loop that runs it (supervisor).
//
// It holds no code. The names of the roles and the form of agent ids are in gitboard/roles, and what a role may do
// is a column of the table of operations in gitboard/board.
//
// It may import nothing of ours.
package roles
