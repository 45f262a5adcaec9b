package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
)

// OwnCommits returns the commits that are lost with a worktree besides that of its HEAD: those
// of records.Stashed, and those of the refs that are the worktree's alone (gitrepository-layout,
// refs/worktree and refs/rewritten). Missing files are left out.
func (w *Worktree) OwnCommits(ctx context.Context) ([]plumbing.OID, error) {
	dir, err := w.gitDir(ctx)
	if err != nil {
		return nil, err
	}
	return w.repo.RecordedCommits(ctx, dir)
}

// RecordedCommits is OwnCommits for the record of a worktree, which may itself be gone.
func (r *Repo) RecordedCommits(ctx context.Context, record string) ([]plumbing.OID, error) {
	named, err := records.Stashed(record)
	if err != nil {
		return nil, err
	}
	refs, err := r.worktreeRefs(ctx, record)
	if err != nil {
		return nil, err
	}
	var commits []plumbing.OID
	for _, oid := range append(named, refs...) {
		o, err := r.Object(ctx, string(oid))
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
	if !slices.ContainsFunc(ownRefs, there) && !there("reftable") || !records.NamesHead(record) || slices.Contains(r.Records().Damaged(), record) {
		return nil, nil
	}
	c := r.command("for-each-ref")
	c.Args = slices.Concat(noMonitor, noHooks, []string{"--git-dir=" + record, "for-each-ref", "--format=%(objectname)"}, ownRefs)
	c.Door = r.door(record)
	out, err := c.Output(ctx)
	for _, line := range child.Lines(out) {
		oids = append(oids, plumbing.OID(line))
	}
	return oids, err
}
