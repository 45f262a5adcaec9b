// Package install installs git's hooks, and uninstalls them without a trace.
//
// All hooks are shims in one directory, <common git dir>/liza/hooks. In a clone they are enabled
// only for the worktrees of tasks, by an include at the end of the repository's config, and for
// supervised processes, by GIT_CONFIG_* in their environment (Environ): a human's checkouts never
// run a shim. On a server they are enabled for the whole repository. A shim runs the project's own
// hook first and then asks git-liza. A missing or broken shim stops nobody, except on a server,
// where it locks the board's refs.
//
// It may import gitboard/git, gitboard/git/disk, gitboard/git/gitenv, gitboard/git/plumbing and
// gitboard/parcel.
package install
