package gitio

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
// refs/worktree and refs/rewritten). What is not here is left out.
func (r *Repo) OwnCommits(ctx context.Context, worktree string) ([]git.OID, error) {
	dir, err := r.worktreeGitDir(ctx, worktree)
	if err != nil {
		return nil, err
	}
	return r.RecordedCommits(ctx, dir)
}

// RecordedCommits is OwnCommits for the record of a worktree, which may itself be gone.
func (r *Repo) RecordedCommits(ctx context.Context, record string) ([]git.OID, error) {
	named, err := SetAside(record)
	if err != nil {
		return nil, err
	}
	refs, err := r.worktreeRefs(ctx, record)
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

// ownRefs begin the names of the refs that are a worktree's alone and may hold work: its own ones,
// and those that `git rebase --rebase-merges` makes until it is finished.
var ownRefs = []string{git.RefsPrefix + "worktree", git.RefsPrefix + "rewritten"}

// worktreeRefs returns what the refs of a worktree alone point to. It starts no child if there are
// none.
func (r *Repo) worktreeRefs(ctx context.Context, record string) (oids []git.OID, err error) {
	there := func(name string) bool {
		_, err := os.Lstat(filepath.Join(record, filepath.FromSlash(name)))
		return err == nil
	}
	if !slices.ContainsFunc(ownRefs, there) && !there("reftable") {
		return nil, nil
	}
	out, err := r.recorded(record, "for-each-ref", append([]string{"for-each-ref", "--format=%(objectname)"}, ownRefs...)...).output(ctx)
	for _, line := range splitLines(out) {
		oids = append(oids, git.OID(line))
	}
	return oids, err
}

// recorded prepares a child that works with the record of a worktree, which may itself be gone.
func (r *Repo) recorded(record, op string, args ...string) command {
	c := r.command(op)
	c.args = flags(noMonitor, noHooks, []string{"--git-dir=" + record}, args)
	return c
}

// RecordedStaged is StagedSnapshot for the record of a worktree that is gone. It returns ZeroOID if
// nothing is staged, in the middle of a conflict, and if the branch is gone: then all looks staged.
// Files whose content is not here any more are left out. A lock of the index is in nobody's way.
func (r *Repo) RecordedStaged(ctx context.Context, record, message string, who git.Signature) (git.OID, error) {
	head, err := r.recorded(record, "rev-parse", "rev-parse", "HEAD^{commit}", "HEAD^{tree}").output(ctx)
	names := splitLines(head)
	if exitCode(err) > 0 || err == nil && len(names) != 2 {
		return git.ZeroOID, nil
	}
	if err != nil {
		return "", err
	}
	index := filepath.Join(record, "index")
	data, err := os.ReadFile(index)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !soundIndex(data) {
		return git.ZeroOID, nil
	}
	if err != nil {
		return "", err
	}
	if index, err = copyIndexIn(record); err != nil {
		return "", err
	}
	defer os.Remove(index)
	env := "GIT_INDEX_FILE=" + index
	open, err := r.recorded(record, "ls-files", "ls-files", "--unmerged", "-z").with(env).output(ctx)
	if err != nil || len(open) > 0 {
		return git.ZeroOID, err
	}
	write := r.recorded(record, "write-tree", flags(durable, []string{"write-tree"})...).with(env)
	out, err := write.output(ctx)
	if exitCode(err) == died {
		if err := r.leaveOutMissing(ctx, record, env); err != nil {
			return "", err
		}
		out, err = write.output(ctx)
	}
	tree := strings.TrimSpace(string(out))
	if err != nil || tree == names[1] {
		return git.ZeroOID, err
	}
	args := flags(durable, []string{"commit-tree", tree, "-p", names[0]})
	return r.commitTree(ctx, r.recorded(record, "commit-tree", args...), message, who)
}

// leaveOutMissing removes the files whose content is not here from an index, which env names.
func (r *Repo) leaveOutMissing(ctx context.Context, record, env string) error {
	out, err := r.recorded(record, "ls-files", "ls-files", "--stage", "-z").with(env).output(ctx)
	if err != nil {
		return err
	}
	reader := newBatch(r.environ, r.command("cat-file", "cat-file", "--batch"))
	defer reader.close()
	var missing strings.Builder
	for entries := range slices.Chunk(splitNUL(out), atOnce) {
		names, paths := make([]string, len(entries)), make([]string, len(entries))
		for i, entry := range entries {
			about, path, _ := strings.Cut(entry, "\t")
			names[i], paths[i] = strings.Fields(about)[1], path
		}
		answers, err := reader.ask(ctx, names)
		if err != nil {
			return err
		}
		for i, answer := range answers {
			if answer.OID == "" && !strings.HasPrefix(entries[i], moduleMark) {
				missing.WriteString(paths[i] + "\x00")
			}
		}
	}
	return r.recorded(record, "update-index", "update-index", "--force-remove", "-z", "--stdin").with(env).feed([]byte(missing.String())).run(ctx)
}
