package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Replace gives a broken ref a new value as git does: under its lock, in one step. Git itself
// refuses to update a ref that it can't read. It returns ErrRefMoved if the ref is no longer broken
// in the same way. A ref that already has the value is left alone.
func (b BrokenRefs) Replace(ctx context.Context, broken *BrokenRefError, to plumbing.OID) (err error) {
	if err := checkOIDs(to); err != nil {
		return err
	}
	if err := plumbing.CheckRefName(broken.Ref); err != nil {
		return err
	}
	path := filepath.Join(b.repo.common, filepath.FromSlash(broken.Ref))
	lock := path + ".lock"
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return disk.NewStorageError(b.repo.common, err)
	}
	file, err := os.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is %w", broken.Ref, &BusyError{Paths: []string{lock}})
	}
	if err != nil {
		return disk.NewStorageError(b.repo.common, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(lock))
		}
	}()
	now, err := b.repo.Ref(ctx, broken.Ref)
	still := (*BrokenRefError)(nil)
	switch unreadable := errors.As(err, &still); {
	case err == nil && now == to:
		return errors.Join(file.Close(), os.Remove(lock))
	case err != nil && !unreadable:
		_ = file.Close()
		return err
	case err == nil || still.Text != broken.Text:
		_ = file.Close()
		return fmt.Errorf("%s: %w", broken.Ref, ErrRefMoved)
	}
	_, err = fmt.Fprintln(file, to)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return disk.NewStorageError(b.repo.common, err)
	}
	return disk.NewStorageError(b.repo.common, os.Rename(lock, path))
}
