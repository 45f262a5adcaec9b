// Package kept holds on to written objects for a while, where no git deletes them.
//
// `git prune`, `git gc` and `git repack` delete the objects that were unreachable when they began,
// however late they get to it. With --prune=now that includes an object written since then, even if
// a ref has pointed to it for minutes: an object that they have not seen is garbage to them. So
// every write of package git also keeps its objects for a while in a file that git does not know
// about, in <common git dir>/liza/kept. A reader that misses an object looks there, and writers
// check from time to time whether anything is missing, until no running git can delete the objects
// any more.
//
// It owns the format and the names of these files, and decides when one may go. Package git reads and
// writes the objects in the repository.
//
// It may import gitboard/git/disk, gitboard/git/locks, gitboard/git/plumbing and gitboard/proc.
package kept
