package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// BrokenRefs returns the refs below the given prefixes that lead to no object, sorted by name. Git
// lists no ref whose file is empty or garbage, and fails to collect garbage while there is one. A full
// name means that ref. Only refs that are kept in files can be empty, so other storage has none.
func (r *Repo) BrokenRefs(ctx context.Context, prefixes ...string) (broken []*BrokenRefError, err error) {
	packed, err := r.packedRefs("packed-refs", func(name string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return isBelow(name, prefix) })
	})
	if err != nil {
		return nil, err
	}
	names := slices.Collect(maps.Keys(packed))
	for _, prefix := range prefixes {
		err := filepath.WalkDir(filepath.Join(r.common, filepath.FromSlash(prefix)), func(path string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // or a ref that was deleted meanwhile
			}
			if err != nil || e.IsDir() {
				return err
			}
			name := filepath.ToSlash(strings.TrimPrefix(path, r.common+string(filepath.Separator)))
			// Git takes none of these for a ref.
			if !strings.HasSuffix(name, ".lock") && !strings.Contains(name, "/.") && plumbing.CheckRefName(name) == nil && e.Type().IsRegular() {
				names = append(names, name)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		_, err := r.Ref(ctx, name)
		if b := (*BrokenRefError)(nil); errors.As(err, &b) {
			broken = append(broken, b)
		} else if err != nil {
			return nil, err
		}
	}
	return broken, nil
}

func isBelow(name, prefix string) bool {
	prefix = strings.TrimSuffix(prefix, "/")
	return name == prefix || strings.HasPrefix(name, prefix+"/")
}

// ReplaceBroken gives a broken ref a new value, or deletes it if that is zero. Git itself refuses to
// update a ref that it can't read, so its file is replaced in one step, or removed. It returns
// ErrRefMoved if the ref is no longer broken in the same way. A ref that already has the value is left
// alone.
func (r *Repo) ReplaceBroken(ctx context.Context, broken *BrokenRefError, to plumbing.OID) error {
	now, err := r.Ref(ctx, broken.Ref)
	still := (*BrokenRefError)(nil)
	switch unreadable := errors.As(err, &still); {
	case err == nil && now == to:
		return nil
	case err != nil && !unreadable:
		return err
	case err == nil || still.Text != broken.Text:
		return fmt.Errorf("%s: %w", broken.Ref, ErrRefMoved)
	}
	old := plumbing.OID(broken.Text)
	if !old.Valid() || old.IsZero() {
		file := filepath.Join(r.common, filepath.FromSlash(broken.Ref))
		if !to.IsZero() {
			return disk.NewStorageError(r.common, disk.Replace(file, []byte(to+"\n")))
		}
		packed, err := r.PackedRefs(broken.Ref)
		if err == nil {
			err = disk.NewStorageError(r.common, disk.Remove(file))
		}
		if old = packed[broken.Ref]; err != nil || old.IsZero() {
			return err
		}
	}
	return r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: broken.Ref, Old: old, New: to}}, "")
}
