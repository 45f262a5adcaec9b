package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// autostashes are the files of a worktree's record in which git has the commit of the changes that
// `--autostash` has put aside until a rebase or a merge is finished (git-rebase, git-merge).
var autostashes = []string{"rebase-merge/autostash", "rebase-apply/autostash", "MERGE_AUTOSTASH"}

// setAside returns the commits of changes that `--autostash` has put aside in the worktree of a
// record, "" for none. No ref holds them, and they are lost with the record.
func setAside(record string) (commits []plumbing.OID, err error) {
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
		if oid := plumbing.OID(strings.TrimSpace(string(data))); oid.Valid() {
			commits = append(commits, oid)
		}
	}
	return commits, nil
}

// OwnCommits returns the commits that are lost with a worktree besides that of its HEAD: those
// of setAside, and those of the refs that are the worktree's alone (gitrepository-layout,
// refs/worktree and refs/rewritten). Missing files are left out.
func (w *Worktree) OwnCommits(ctx context.Context) ([]plumbing.OID, error) {
	dir, err := w.gitDir(ctx)
	if err != nil {
		return nil, err
	}
	return w.repo.Records().Commits(ctx, dir)
}

// Commits is OwnCommits for the record of a worktree, which may itself be gone.
func (r Records) Commits(ctx context.Context, record string) ([]plumbing.OID, error) {
	named, err := setAside(record)
	if err != nil {
		return nil, err
	}
	refs, err := r.repo.worktreeRefs(ctx, record)
	if err != nil {
		return nil, err
	}
	var commits []plumbing.OID
	for _, oid := range append(named, refs...) {
		o, err := r.repo.Object(ctx, string(oid))
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if o.Type == plumbing.CommitObject {
			commits = append(commits, oid)
		}
	}
	return commits, nil
}

// ownRefs begin the names of the refs that are a worktree's alone and may hold work: its own ones,
// and those that `git rebase --rebase-merges` makes until it is finished.
var ownRefs = []string{plumbing.RefsPrefix + "worktree", plumbing.RefsPrefix + "rewritten"}

// worktreeRefs returns what the refs of a worktree alone point to, nothing for a record that git
// can't read. It starts no child if there are none.
func (r *Repo) worktreeRefs(ctx context.Context, record string) (oids []plumbing.OID, err error) {
	there := func(name string) bool {
		_, err := os.Lstat(filepath.Join(record, filepath.FromSlash(name)))
		return err == nil
	}
	if !slices.ContainsFunc(ownRefs, there) && !there("reftable") || !namesHead(record) || slices.Contains(r.Records().Damaged(), record) {
		return nil, nil
	}
	out, err := r.recorded(record, "for-each-ref", append([]string{"for-each-ref", "--format=%(objectname)"}, ownRefs...)...).Output(ctx)
	for _, line := range child.Lines(out) {
		oids = append(oids, plumbing.OID(line))
	}
	return oids, err
}

// recorded prepares a child that works with the record of a worktree, which may itself be gone.
func (r *Repo) recorded(record, op string, args ...string) command {
	c := r.command(op)
	c.Args, c.Door = slices.Concat(noMonitor, noHooks, []string{"--git-dir=" + record}, args), r.door(record)
	return c
}
