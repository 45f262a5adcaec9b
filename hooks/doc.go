// Package hooks owns what git's hooks allow: one policy per hook, for agents in a clone and for
// pushes to a shared repository.
//
// Policies are pure: they take the user, the ref, its old and new value, and the board, and return
// nil or a refusal that names the rule and the way out. A clone's hooks are only a guard against an
// agent's mistakes, which can be bypassed on purpose. A server's hooks are a lock. Package
// hooks/install installs them.
//
// It may import gitboard/board, gitboard/git/plumbing and gitboard/roles.
package hooks
