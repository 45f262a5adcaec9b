// Package install puts git's hooks in place, and takes them away without a trace.
//
// All hooks are shims in one directory, <common git dir>/liza/hooks. In a clone it is switched on for the
// worktrees of tasks alone, by an include at the end of the repository's config, and for supervised processes
// by GIT_CONFIG_* in their environment (Environ): a human's checkouts never run a shim. On a server it is
// switched on for the whole repository. A shim runs the project's own hook first and then asks git-liza; one
// that is missing or broken stops nobody, but for a server's lock on what is the board's.
//
// It may import gitboard/git and gitboard/gitio.
package install
