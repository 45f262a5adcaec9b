// Package simulation simulates teams on a board in memory: agents and people of whole runs, each a
// process with a board of its own, and whatever can go wrong with them and between them. A seed
// determines a run. An observer checks after each operation that the board keeps its promises.
//
// Only its own tests use it.
//
// It may import gitboard, gitboard/board, gitboard/git, gitboard/git/plumbing, gitboard/lease,
// gitboard/log, gitboard/log/codec, gitboard/report, gitboard/roles, gitboard/testrepo and
// gitboard/testrun.
package simulation
