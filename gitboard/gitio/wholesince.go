package gitio

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/git"
)

// WholeSince is Whole for what a commit's history has and that of from doesn't have. The error is a
// DamagedError if anything is missing or damaged. It starts no child for a short line of commits.
func (r *Repo) WholeSince(ctx context.Context, from, commit git.OID) error {
	if err := checkOIDs(from, commit); err != nil {
		return err
	}
	if partial, err := r.isPartial(ctx); partial || err != nil {
		return err
	}
	chain, line, err := r.near(ctx, from, commit)
	if err != nil {
		return err
	}
	if !line || chain == nil {
		return r.listedSince(ctx, from, commit)
	}
	w := changes{repo: r, commit: commit}
	for i, at := range chain[:len(chain)-1] {
		if err := w.between(ctx, string(chain[i+1])+"^{tree}", string(at)+"^{tree}", ""); err != nil {
			return err
		}
	}
	return w.read(ctx)
}

// changes are the files that the commits of a line change.
type changes struct {
	repo   *Repo
	commit git.OID
	files  []git.TreeEntry // named by their paths
}

// between adds the files that differ between two trees below a directory. old may be missing.
func (w *changes) between(ctx context.Context, old, new, dir string) error {
	names := []string{new}
	if old != "" {
		names = append(names, old)
	}
	trees, err := w.repo.Objects(ctx, names)
	if err != nil {
		return err
	}
	now, err := git.DecodeTree(trees[0].Data)
	if trees[0].Type != git.TreeObject || err != nil {
		return &DamagedError{Commit: w.commit, Err: err, Object: git.OID(strings.TrimSuffix(new, "^{tree}")), Path: dir}
	}
	before := map[string]git.TreeEntry{}
	if old != "" {
		was, _ := git.DecodeTree(trees[1].Data) // if it is missing, all is new
		for _, e := range was {
			before[e.Name] = e
		}
	}
	for _, e := range now {
		same := before[e.Name]
		switch below := path.Join(dir, e.Name); {
		case e.OID == same.OID || e.Mode == filemode.Submodule:
		case e.Mode == filemode.Dir:
			if err := w.between(ctx, string(same.OID), string(e.OID), below); err != nil {
				return err
			}
		default:
			w.files = append(w.files, git.TreeEntry{Name: below, OID: e.OID})
		}
	}
	return nil
}

// largeFile is the size in bytes from which on a file is only looked up, and filesAtOnce is how
// many smaller ones are held in memory at once.
const (
	largeFile   = 1 << 20
	filesAtOnce = 16
)

// read reads the files.
func (w *changes) read(ctx context.Context) error {
	var small []git.TreeEntry
	for part := range slices.Chunk(w.files, atOnce) {
		sizes, err := w.repo.SizesOf(ctx, namesOf(part))
		if err != nil {
			return err
		}
		for i, s := range sizes {
			if s.OID == "" {
				return w.lacks(part[i])
			}
			if s.Bytes < largeFile {
				small = append(small, part[i])
			}
		}
	}
	for part := range slices.Chunk(small, filesAtOnce) {
		found, err := w.repo.Objects(ctx, namesOf(part))
		if err != nil {
			return err
		}
		for i, o := range found {
			if o.OID == "" {
				return w.lacks(part[i])
			}
		}
	}
	return nil
}

func (w *changes) lacks(f git.TreeEntry) error {
	return &DamagedError{Commit: w.commit, Object: f.OID, Path: f.Name}
}

func namesOf(entries []git.TreeEntry) []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = string(e.OID)
	}
	return names
}

// listedSince is WholeSince for any history: git lists its objects.
func (r *Repo) listedSince(ctx context.Context, from, commit git.OID) error {
	return r.listed(ctx, commit, "^"+string(from))
}

// WholeBesideRefs is Whole for what a commit's history has and no ref leads to, which is what git
// checks of each ref that is pushed. The error is a DamagedError if anything is missing or damaged.
func (r *Repo) WholeBesideRefs(ctx context.Context, commit git.OID) error {
	return r.listed(ctx, commit, "--not", "--all")
}

// listed is whole with an error that is a DamagedError also if git can't list the objects.
func (r *Repo) listed(ctx context.Context, commit git.OID, args ...string) error {
	err := r.whole(ctx, commit, args...)
	if exitCode(err) > 0 {
		return &DamagedError{Commit: commit, Err: err}
	}
	return err
}
