package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// IgnoredFile is a file in a worktree that git ignores.
type IgnoredFile struct {
	Path  string // relative to the top directory, with slashes
	Bytes int64
	mode  string
}

// Ignored lists the regular files of the worktree that git ignores, except those that skip selects:
// of a directory that it selects, nothing is read. Repositories inside the worktree are left out.
func (w *Worktree) Ignored(ctx context.Context, skip func(path string) bool) (files []IgnoredFile, err error) {
	out, err := w.in("ls-files", "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z").Output(ctx)
	if err != nil {
		return nil, err
	}
	for _, entry := range child.Fields(out) {
		err := filepath.WalkDir(filepath.Join(w.path, filepath.FromSlash(entry)), func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
					return nil // deleted in the meantime, or not readable for git either
				}
				return err
			}
			name, err := filepath.Rel(w.path, path)
			if err != nil {
				return err
			}
			name = filepath.ToSlash(name)
			_, nested := os.Lstat(filepath.Join(path, ".git"))
			switch info, err := e.Info(); {
			case e.IsDir() && (nested == nil || skip(name+"/x") && skip(name+"/x/x")):
				return filepath.SkipDir
			case err == nil && info.Mode().IsRegular() && !skip(name) && !strings.Contains(name, "\n"):
				mode := "100644"
				if info.Mode().Perm()&0o111 != 0 {
					mode = "100755"
				}
				files = append(files, IgnoredFile{name, info.Size(), mode})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// KeepIgnored commits files of the worktree that git ignores, as they are, without a parent. No ref
// points to the commit yet.
func (w *Worktree) KeepIgnored(ctx context.Context, files []IgnoredFile, message string, who plumbing.Signature) (plumbing.OID, error) {
	return KeptWhole(func() (plumbing.OID, error) {
		dir, err := w.gitDir(ctx)
		if err != nil {
			return "", err
		}
		index, err := os.CreateTemp(dir, "liza-index-")
		if err == nil {
			err = errors.Join(index.Close(), os.Remove(index.Name())) // git makes it
		}
		if err != nil {
			return "", disk.NewStorageError(dir, err)
		}
		defer os.Remove(index.Name())
		var paths, entries strings.Builder
		for _, f := range files {
			paths.WriteString(filepath.Join(w.path, filepath.FromSlash(f.Path)) + "\n")
		}
		hash := w.repo.command("hash-object", slices.Concat(durable, []string{"hash-object", "-w", "--no-filters", "--stdin-paths"})...)
		out, err := hash.Feed([]byte(paths.String())).Output(ctx)
		oids := child.Lines(out)
		if err == nil && len(oids) != len(files) {
			err = fmt.Errorf("git hash-object read %d of %d files", len(oids), len(files))
		}
		if err != nil {
			return "", err
		}
		for i, f := range files {
			fmt.Fprintf(&entries, "%s %s\t%s\x00", f.mode, oids[i], f.Path)
		}
		env := "GIT_INDEX_FILE=" + index.Name()
		if err := w.in("update-index", "update-index", "-z", "--index-info").With(env).Feed([]byte(entries.String())).Run(ctx); err != nil {
			return "", err
		}
		tree, err := w.in("write-tree", slices.Concat(durable, []string{"write-tree"})...).With(env).Output(ctx)
		if err != nil {
			return "", err
		}
		return w.repo.commitTree(ctx, w.in("commit-tree", slices.Concat(durable, []string{"commit-tree", strings.TrimSpace(string(tree))})...), message, who)
	})
}

// CopyIgnored copies the files of the worktree that git ignores, and that match selects, to the
// same places in another one, where no file is replaced. It returns the copied paths. Links, and
// directories that are links, are not followed: nothing from outside of the worktree is copied.
func (w *Worktree) CopyIgnored(ctx context.Context, to string, match func(path string) bool) (copied []string, err error) {
	files, err := w.Ignored(ctx, func(path string) bool {
		first, _, below := strings.Cut(path, "/")
		return below && plumbing.OwnFolder(first)
	})
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files = slices.DeleteFunc(files, func(f IgnoredFile) bool { return !match(f.Path) })
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(w.path, filepath.FromSlash(f.Path)))
		if err != nil {
			return copied, err
		}
		if err := root.MkdirAll(filepath.Dir(filepath.FromSlash(f.Path)), 0o755); err != nil {
			return copied, err
		}
		perm := fs.FileMode(0o600) // they are often secrets
		if f.mode == "100755" {
			perm = 0o700
		}
		file, err := root.OpenFile(filepath.FromSlash(f.Path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			_, err = file.Write(data)
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			return copied, err
		}
		copied = append(copied, f.Path)
	}
	return copied, nil
}
