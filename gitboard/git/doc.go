// Package git is the only door to git: every git child of this project is started here, by package
// child below it, and no package elsewhere sees an argument vector.
//
// It owns the calls of git, and moving the values of package plumbing (object ids, trees, commits,
// refs) in and out of a repository.
//
// It promises that
//   - only native git moves refs, worktrees and indexes; go-git serves for object
//     formats and never for refs or storage, because its ref writer does not
//     respect git's lock files;
//   - a child never prompts, never opens an editor, and never outlives its context, except a
//     connection of ssh that is kept for the next children for a minute;
//   - a decision is never made by reading git's prose: exit codes say that
//     something failed, reading again says what is true now;
//   - objects and refs are flushed to disk before a call that wrote them
//     returns, so that acknowledged work survives a power cut;
//   - whatever GIT_DIR, GIT_INDEX_FILE and their like say after Open, children
//     work on the repository that Open found.
//
// Methods of Repo are safe for concurrent use. Paths given to them may be
// relative to this process's directory; paths that they return are absolute,
// paths inside a tree are relative to its top and use slashes.
//
// It may import gitboard/git/child, gitboard/git/disk, gitboard/git/find, gitboard/git/gitenv,
// gitboard/git/kept, gitboard/git/locks, gitboard/git/loose, gitboard/git/network,
// gitboard/git/plumbing, gitboard/git/records, gitboard/git/settings, gitboard/proc, gitboard/queue
// and gitboard/retry.
package git
