package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/retry"
)

// CanAdvance reports whether Advance from old to new would succeed, without changing any file. If local changes or untracked files are in the way,
// overlap lists their paths; otherwise it is nil. Ignored files are never in the way.
//
// Errors: ErrBusy if another process holds the lock of that index; a CommandError if git refuses
// although nothing is in the way.
func (w *Worktree) CanAdvance(ctx context.Context, old, new plumbing.OID) (overlap []string, err error) {
	refused := w.readTree(ctx, old, new, "-n")
	if child.ExitCode(refused) <= 0 {
		return nil, refused
	}
	changed, dirty, err := w.changes(ctx, old, new)
	if err != nil {
		return nil, err
	}
	if overlap = overlapping(changed, dirty); overlap != nil {
		return overlap, nil
	}
	for _, e := range dirty { // any of them may be the cause
		overlap = append(overlap, e.Path)
	}
	if overlap == nil {
		return nil, refused
	}
	return overlap, nil
}

// changes returns the paths that differ between two commits, and those that differ from HEAD in a
// worktree.
func (w *Worktree) changes(ctx context.Context, old, new plumbing.OID) (changed []string, dirty []StatusEntry, err error) {
	if changed, err = w.repo.History().ChangedFiles(ctx, old, new); err == nil {
		dirty, err = w.Status(ctx)
	}
	return changed, dirty, err
}

// Advance moves the index and files of the worktree from old to new
// (git-read-tree, two trees). It updates what differs between the two and leaves local changes to
// other paths alone. It is all or nothing unless git is killed or the disk is full: then files may
// be new or partly written while the index is still old, and Resume completes the job. HEAD does
// not move; moving it is left to the caller that moves the ref. Errors are those of CanAdvance,
// except that an overlap is a CommandError.
func (w *Worktree) Advance(ctx context.Context, old, new plumbing.OID) error {
	return w.readTree(ctx, old, new)
}

// Resume is Advance where one from old to new, or to a commit before new, may have been
// interrupted: what that has left is not in the way. Call it only where this is known, since a file
// that holds the beginning of new's content, or nothing, counts as half written. overlap lists the
// paths of other changes that are in the way; then nothing has changed.
func (w *Worktree) Resume(ctx context.Context, old, new plumbing.OID) (overlap []string, err error) {
	refused := w.readTree(ctx, old, new)
	if child.ExitCode(refused) <= 0 {
		return nil, refused
	}
	changed, dirty, err := w.changes(ctx, old, new)
	if err != nil {
		return nil, err
	}
	cut, staged, err := w.cutShort(ctx, old, new)
	if err != nil {
		return nil, err
	}
	dirty = slices.DeleteFunc(dirty, func(e StatusEntry) bool {
		return cut[e.Path] != "" || e.Code[1] == ' ' && !slices.Contains(staged, e.Path) // still as in old
	})
	if overlap = overlapping(changed, dirty); len(overlap) > 0 {
		return overlap, nil
	}
	var whole strings.Builder
	for path, entry := range cut {
		if entry != begun {
			whole.WriteString(entry + "\t" + path + "\x00")
		} else {
			_ = os.Remove(filepath.Join(w.path, path)) // git refuses again if it stays
		}
	}
	index := w.in("update-index", "update-index", "-z", "--index-info").Feed([]byte(whole.String()))
	if err := index.Run(ctx); err != nil {
		return nil, err
	}
	return nil, w.readTree(ctx, old, new)
}

// begun marks a file that git had only partly written when it was stopped.
const begun = "begun"

// cutShort returns the files that an interrupted Advance wrote without updating the index, which
// still matches old. The map holds each path with its entry in new's tree, or begun if the file in
// the worktree is missing or only a prefix of new's content. Such a prefix is part of new, so
// overwriting it loses nothing. staged lists the paths whose index entry is not old's.
func (w *Worktree) cutShort(ctx context.Context, old, new plumbing.OID) (cut map[string]string, staged []string, err error) {
	out, err := w.in("diff-index", "diff-index", "--cached", "--name-only", "--no-renames", "-z", string(old), "--").Output(ctx)
	if err != nil {
		return nil, nil, err
	}
	staged = child.Fields(out)
	differs, err := w.differing(ctx, new)
	if err != nil {
		return nil, nil, err
	}
	tree, err := w.repo.comparing("diff-tree", "-r", "-z", "--no-renames", string(old), string(new), "--").Output(ctx)
	if err != nil {
		return nil, nil, err
	}
	cut = map[string]string{}
	for pair := range slices.Chunk(child.Fields(tree), 2) { // ":100644 100644 OLD NEW M", and the path
		const toMode, toOID = 1, 3
		words := strings.Fields(strings.TrimPrefix(pair[0], ":"))
		if len(pair) == 2 && len(words) > toOID && !plumbing.OID(words[toOID]).IsZero() {
			cut[pair[1]] = words[toMode] + " " + words[toOID]
		}
	}
	for _, path := range staged {
		delete(cut, path)
	}
	for _, path := range differs {
		if cut[path] == "" || strings.HasPrefix(cut[path], moduleMark) { // git does not check out submodules here
			continue
		}
		delete(cut, path)
		if part, err := w.isBegun(ctx, new, path); err != nil {
			return nil, nil, err
		} else if part {
			cut[path] = begun
		}
	}
	return cut, staged, nil
}

// differing lists the files of a commit whose content in the worktree differs from the commit.
func (w *Worktree) differing(ctx context.Context, commit plumbing.OID) ([]string, error) {
	index, err := w.copyIndex(ctx)
	if err != nil {
		return nil, err
	}
	defer os.Remove(index)
	env := "GIT_INDEX_FILE=" + index
	if err := w.in("read-tree", "read-tree", string(commit)).With(env).Run(ctx); err != nil {
		return nil, err
	}
	// A positive exit code only means that files differ.
	if err := w.in("update-index", "update-index", "-q", "--refresh").With(env).Run(ctx); child.ExitCode(err) < 0 {
		return nil, err
	}
	files, err := w.in("diff-files", "diff-files", "--name-only", "-z").With(env).Output(ctx)
	return child.Fields(files), err
}

// isBegun reports whether a path in a worktree is missing, or is a file that holds a prefix of the
// commit's content. git-read-tree does not count a missing file as a local change either.
func (w *Worktree) isBegun(ctx context.Context, commit plumbing.OID, path string) (bool, error) {
	file := filepath.Join(w.path, path)
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	// The path is a directory or a symlink, or a parent of it is a file.
	if err != nil || !info.Mode().IsRegular() {
		return false, nil
	}
	part, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	all, err := w.in("cat-file", "cat-file", "--filters", string(commit)+":"+path).Output(ctx)
	switch code := child.ExitCode(err); {
	case code < 0:
		return false, err
	case code > 0:
		return false, nil // the commit has no such path
	}
	return bytes.HasPrefix(all, part), nil
}

// readTree runs the two-tree git-read-tree. It retries if git refused because another process held
// the lock of the index. Files of submodules stay, as git merge leaves them, also with
// submodule.recurse: git would need their new commits, and breaks a submodule that is not checked
// out. The error is that of the first attempt without a lock: once git has failed to write a file,
// it refuses the files that it has written before.
func (w *Worktree) readTree(ctx context.Context, old, new plumbing.OID, options ...string) error {
	if err := checkOIDs(old, new); err != nil {
		return err
	}
	// Without a refresh, files with nothing but new timestamps look changed to read-tree.
	refresh := w.in("update-index", "update-index", "-q", "--refresh")
	args := slices.Concat(workers, []string{"-c", "submodule.recurse=false", "read-tree"}, options, []string{"-m", "-u", string(old), string(new)})
	var cause error
	for attempt := 1; ; attempt++ {
		// A positive exit code only means that files have changed.
		if err := refresh.Run(ctx); child.ExitCode(err) < 0 {
			return err
		}
		refused := w.in("read-tree", args...).Run(ctx)
		if child.ExitCode(refused) <= 0 {
			return refused
		}
		if !retry.May(ctx, attempt, attempts) {
			return cmp.Or(cause, refused)
		}
		if err := w.busy(ctx); err == nil {
			cause = cmp.Or(cause, refused)
		} else if !w.repo.Locks().Await(ctx, err) {
			return err
		}
	}
}

// overlapping returns the dirty paths that an update of the changed paths would touch.
func overlapping(changed []string, dirty []StatusEntry) (hit []string) {
	for _, entry := range dirty {
		for _, path := range changed {
			if samePlace(entry.Path, path) {
				hit = append(hit, entry.Path)
				break
			}
		}
	}
	return hit
}

// samePlace reports whether two paths are the same, or one is a parent directory of the other.
func samePlace(a, b string) bool {
	a, b = strings.TrimSuffix(a, "/"), strings.TrimSuffix(b, "/")
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}
