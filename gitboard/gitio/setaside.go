package gitio

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
)

// autostashes are the files of a worktree's record in which git has the commit of the changes that
// `--autostash` has put aside until a rebase or a merge is finished (git-rebase, git-merge).
var autostashes = []string{"rebase-merge/autostash", "rebase-apply/autostash", "MERGE_AUTOSTASH"}

// SetAside returns the commits of changes that `--autostash` has put aside in the worktree of a
// record, "" for none. No ref holds them, and they are lost with the record.
func SetAside(record string) (commits []git.OID, err error) {
	if record == "" {
		return nil, nil
	}
	for _, name := range autostashes {
		file := filepath.Join(record, filepath.FromSlash(name))
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if oid := git.OID(strings.TrimSpace(string(data))); oid.Valid() {
			commits = append(commits, oid)
		}
	}
	return commits, nil
}

// OwnCommits returns the commits that are lost with a worktree besides that of its HEAD: those
// of SetAside, and those of the refs that are the worktree's alone (gitrepository-layout,
// refs/worktree). What is not here is left out.
func (r *Repo) OwnCommits(ctx context.Context, worktree string) ([]git.OID, error) {
	dir, err := r.worktreeGitDir(ctx, worktree)
	if err != nil {
		return nil, err
	}
	named, err := SetAside(dir)
	if err != nil {
		return nil, err
	}
	refs, err := r.worktreeRefs(ctx, worktree, dir)
	if err != nil {
		return nil, err
	}
	var commits []git.OID
	for _, oid := range append(named, refs...) {
		o, err := r.Object(ctx, string(oid))
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if o.Type == git.CommitObject {
			commits = append(commits, oid)
		}
	}
	return commits, nil
}

// worktreeRefs returns what the refs of a worktree alone point to. It starts no child if there are
// none.
func (r *Repo) worktreeRefs(ctx context.Context, worktree, dir string) (oids []git.OID, err error) {
	const own = git.RefsPrefix + "worktree"
	_, files := os.Lstat(filepath.Join(dir, filepath.FromSlash(own)))
	_, tables := os.Lstat(filepath.Join(dir, "reftable"))
	if files != nil && tables != nil {
		return nil, nil
	}
	out, err := r.in(worktree, "for-each-ref", "for-each-ref", "--format=%(objectname)", own).output(ctx)
	for _, line := range splitLines(out) {
		oids = append(oids, git.OID(line))
	}
	return oids, err
}
