package git

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// WholeSince is Whole for the objects of a commit's history that from's history lacks. The error is
// a DamagedError if anything is missing or damaged, and a MalformedError as of WellFormed. It
// starts no child for a short line of commits as git usually writes them.
func (h History) WholeSince(ctx context.Context, from, commit plumbing.OID) error {
	if err := checkOIDs(from, commit); err != nil {
		return err
	}
	if partial, err := h.repo.isPartial(ctx); partial || err != nil {
		if err == nil {
			err = h.WellFormed(ctx, from, commit)
		}
		if errors.As(err, new(*DamagedError)) {
			return nil // it has yet to be fetched
		}
		return err
	}
	w, line, err := h.repo.changesSince(ctx, from, commit)
	if err != nil {
		return err
	}
	if !line {
		return cmp.Or(h.repo.listedSince(ctx, from, commit), h.repo.wellFormed(ctx, from, commit))
	}
	return cmp.Or(w.read(ctx), w.wellFormed(ctx, from))
}

// changesSince reads the trees that the commits after from change. line is false if they are not a
// short line.
func (r *Repo) changesSince(ctx context.Context, from, commit plumbing.OID) (w *changes, line bool, err error) {
	chain, line, err := r.near(ctx, from, commit)
	if err != nil || !line || chain == nil {
		return nil, false, err
	}
	w = &changes{repo: r, commit: commit}
	commits, err := r.Objects(ctx, textsOf(chain[:len(chain)-1]))
	if err != nil {
		return nil, false, err
	}
	for i, o := range commits {
		w.odd = w.odd || !plumbing.UsualCommit(o.Data)
		if err := w.between(ctx, string(chain[i+1])+"^{tree}", string(o.OID)+"^{tree}", ""); err != nil {
			return nil, false, err
		}
	}
	return w, true, nil
}

func textsOf(oids []plumbing.OID) []string {
	texts := make([]string, len(oids))
	for i, oid := range oids {
		texts[i] = string(oid)
	}
	return texts
}

// changes are the files that the commits of a line change.
type changes struct {
	repo    *Repo
	commit  plumbing.OID
	files   []plumbing.TreeEntry // named by their paths
	odd     bool                 // git has to check the commits and their trees
	unclear error                // of a tree that can't be decoded, unless git finds it malformed
}

// wellFormed lets git check what is not as git usually writes it.
func (w *changes) wellFormed(ctx context.Context, from plumbing.OID) error {
	if w.odd {
		if err := cmp.Or(w.repo.strict(ctx, []plumbing.OID{w.commit}, from), w.unclear); err != nil {
			return err
		}
	}
	return w.repo.ownFolders(ctx, from, w.commit)
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
	now, err := plumbing.DecodeTree(trees[0].Data)
	if trees[0].Type != plumbing.TreeObject || err != nil {
		unread := &DamagedError{Commit: w.commit, Err: err, Object: plumbing.OID(strings.TrimSuffix(new, "^{tree}")), Path: dir}
		if trees[0].Type != plumbing.TreeObject {
			return unread
		}
		w.odd, w.unclear = true, unread
		return nil
	}
	before := map[string]plumbing.TreeEntry{}
	if old != "" {
		was, _ := plumbing.DecodeTree(trees[1].Data) // if it is missing, all is new
		for _, e := range was {
			before[e.Name] = e
		}
	}
	w.odd = w.odd || !plumbing.UsualTree(trees[0].Data, now, before)
	for _, e := range now {
		same := before[e.Name]
		switch below := path.Join(dir, e.Name); {
		case e.OID == same.OID || e.Mode == filemode.Submodule:
		case e.Mode == filemode.Dir:
			if err := w.between(ctx, string(same.OID), string(e.OID), below); err != nil {
				return err
			}
		default:
			w.files = append(w.files, plumbing.TreeEntry{Name: below, OID: e.OID})
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
	var small []plumbing.TreeEntry
	for part := range slices.Chunk(w.files, atOnce) {
		sizes, err := w.repo.History().SizesOf(ctx, namesOf(part))
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

func (w *changes) lacks(f plumbing.TreeEntry) error {
	return &DamagedError{Commit: w.commit, Object: f.OID, Path: f.Name}
}

func namesOf(entries []plumbing.TreeEntry) []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = string(e.OID)
	}
	return names
}

// listedSince is WholeSince for any history: git lists its objects.
func (r *Repo) listedSince(ctx context.Context, from, commit plumbing.OID) error {
	return r.listed(ctx, commit, "^"+string(from))
}

// WholeBesideRefs is Whole for the objects of a commit's history that no ref leads to, which git
// checks for each pushed ref. The error is a DamagedError if anything is missing or damaged.
func (h History) WholeBesideRefs(ctx context.Context, commit plumbing.OID) error {
	return h.repo.listed(ctx, commit, "--not", "--all")
}

// listed is whole with an error that is a DamagedError also if git can't list the objects.
func (r *Repo) listed(ctx context.Context, commit plumbing.OID, args ...string) error {
	err := r.whole(ctx, commit, args...)
	if child.ExitCode(err) > 0 {
		return &DamagedError{Commit: commit, Err: err}
	}
	return err
}
