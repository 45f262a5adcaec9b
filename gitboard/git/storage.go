package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// StorageError is disk.StorageError.
type StorageError = disk.StorageError

// probe tries to create a file in the common directory and returns a StorageError if that fails. It
// is called after a child has failed to write, because git gives the reason only in prose.
func (r *Repo) probe() error { return disk.Probe(r.common, "liza-probe-") }

// probeRefs is probe for the directories in which git keeps the refs and their reflogs.
func (r *Repo) probeRefs(updates []plumbing.RefUpdate) error {
	for _, u := range updates {
		for _, top := range []string{r.common, filepath.Join(r.common, "logs")} {
			dir := filepath.Dir(filepath.Join(top, filepath.FromSlash(u.Ref)))
			for info, err := os.Stat(dir); dir != r.common && (err != nil || !info.IsDir()); info, err = os.Stat(dir) {
				dir = filepath.Dir(dir)
			}
			err := disk.Probe(dir, ".liza-probe-") // git takes no file for a ref whose name begins with a dot
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
