package records

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// madeFile is the file in a record that marks its worktree as made by git liza. It is moved and
// removed with the record.
const madeFile = "made-by-git-liza"

// Made reports whether git liza made the worktree of a record. All other worktrees are a person's. It
// is false for "".
func Made(record string) bool {
	_, err := os.Lstat(filepath.Join(record, madeFile))
	return record != "" && err == nil
}

// MarkMade makes Made true for a record.
func MarkMade(record string) error {
	if record == "" {
		return fs.ErrNotExist
	}
	return disk.NewStorageError(record, disk.Replace(filepath.Join(record, madeFile), nil))
}

// lockFile is the name of a record's lock file, which holds the reason (gitrepository-layout,
// worktrees/<id>/locked).
const lockFile = "locked"

// lockedFor returns the reason for which the worktree of a record is locked; locked is false for "".
func lockedFor(record string) (reason string, locked bool) {
	text, err := os.ReadFile(filepath.Join(record, lockFile))
	return strings.TrimSpace(string(text)), record != "" && err == nil
}

// Locked reports whether the worktree of a record is locked, as by a person or by a git that makes it.
func Locked(record string) bool {
	_, locked := lockedFor(record)
	return locked
}

// Initializing reports whether git-worktree was killed while it made the worktree of a record: git
// locks it until it is complete.
func Initializing(record string) bool {
	reason, locked := lockedFor(record)
	return locked && reason == "initializing"
}

// HalfMoved returns the path that git's record of a worktree still names, if nothing is there: a
// process died after it moved the worktree and before it recorded that. It returns "" otherwise.
func (r Repo) HalfMoved(worktree string) string {
	record, known := r.Named(worktree)
	link := Link(record)
	if _, left := os.Lstat(link); !known || link == "" || link == filepath.Join(worktree, ".git") || !os.IsNotExist(left) {
		return ""
	}
	return filepath.Dir(link)
}

// InUse returns the worktree in which an unfinished rebase or bisection holds a branch, given by its
// full name, and the name of that command; "" for none. HEAD does not name the branch then, but git
// counts it as checked out (find_shared_symref and `rebase --update-refs`): at its end the command
// sets the branch from where it was.
func (r Repo) InUse(ref string) (top, command string) {
	for _, dir := range append([]string{r.Common}, r.All()...) {
		switch {
		case slices.Contains(rebased(dir), ref):
			command = "rebase"
		case bisected(dir) == ref:
			command = "bisect"
		default:
			continue
		}
		if dir == r.Common {
			return r.MainTop(), command
		}
		return filepath.Dir(Link(dir)), command
	}
	return "", ""
}

// rebased lists the branches that an unfinished rebase in a worktree's git directory holds.
func rebased(dir string) (refs []string) {
	for _, file := range []string{"rebase-merge", "rebase-apply"} {
		if name, known := disk.Line(filepath.Join(dir, file, "head-name")); known {
			refs = append(refs, name)
		}
	}
	// Three lines for each branch that --update-refs moves: its name, its old and its new commit.
	text, _ := os.ReadFile(filepath.Join(dir, "rebase-merge", "update-refs")) // without it, none does
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, plumbing.RefsPrefix) {
			refs = append(refs, line)
		}
	}
	return refs
}

// bisected returns the branch from which a bisection in a worktree's git directory began, "" for
// none.
func bisected(dir string) string {
	name, known := disk.Line(filepath.Join(dir, "BISECT_START"))
	if !known || name == "" || plumbing.OID(name).Valid() {
		return ""
	}
	return plumbing.BranchRef(strings.TrimPrefix(name, plumbing.HeadsPrefix))
}

// autostashes are the files of a record in which git has the commit of the changes that `--autostash`
// has put aside until a rebase or a merge is finished (git-rebase, git-merge).
var autostashes = []string{"rebase-merge/autostash", "rebase-apply/autostash", "MERGE_AUTOSTASH"}

// Stashed returns the commits of changes that `--autostash` has put aside in the worktree of a record,
// none for "". No ref holds them, and they are lost with the record.
func Stashed(record string) (commits []plumbing.OID, err error) {
	if record == "" {
		return nil, nil
	}
	for _, name := range autostashes {
		data, err := os.ReadFile(filepath.Join(record, filepath.FromSlash(name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if oid := plumbing.OID(strings.TrimSpace(string(data))); oid.Valid() {
			commits = append(commits, oid)
		}
	}
	return commits, nil
}
