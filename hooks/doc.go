// Package hooks owns what git's hooks allow: one policy a hook, for agents in a clone and for pushes to a
// shared repository.
//
// Policies are pure: who, which ref, from where to where, and the board, in; nil or a refusal that names the
// rule and the way out, back. What a clone's hooks refuse an agent is a guard: whoever means to can get round
// it. What a server's hooks refuse is a lock. Package hooks/install puts them in place.
//
// It may import gitboard/board, gitboard/git and gitboard/roles.
package hooks
