package git

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// BrokenRefs finds and replaces refs that lead to no object.
type BrokenRefs struct{ repo *Repo }

// BrokenRefs returns the repository's broken refs.
func (r *Repo) BrokenRefs() BrokenRefs { return BrokenRefs{r} }

// List returns the refs below the given prefixes that lead to no object, sorted by name. Git
// lists no ref whose file is empty or garbage, and fails to collect garbage while there is one. A
// full name means that ref. Only refs that are kept in files can be empty, so other storage has
// none.
func (of BrokenRefs) List(ctx context.Context, prefixes ...string) ([]*BrokenRefError, error) {
	texts, err := of.repo.packedRefs("packed-refs", func(name string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return isBelow(name, prefix) })
	})
	if err != nil {
		return nil, err
	}
	for _, prefix := range prefixes {
		if err := of.repo.looseRefs(prefix, texts); err != nil {
			return nil, err
		}
	}
	doubtful, err := of.repo.leadNowhere(ctx, texts)
	if err != nil {
		return nil, err
	}
	var broken []*BrokenRefError
	for _, name := range doubtful {
		_, err := of.repo.Ref(ctx, name)
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

// looseRefs adds the texts of the ref files below a prefix.
func (r *Repo) looseRefs(prefix string, texts map[string]plumbing.OID) error {
	return filepath.WalkDir(filepath.Join(r.common, filepath.FromSlash(prefix)), func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // or a ref that was deleted meanwhile
		}
		if err != nil || e.IsDir() {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, r.common+string(filepath.Separator)))
		if strings.HasSuffix(name, ".lock") || strings.Contains(name, "/.") || plumbing.CheckRefName(name) != nil {
			return nil // git takes none of them for a ref
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if !strings.HasPrefix(string(text), "ref:") {
			texts[name] = plumbing.OID(strings.TrimSpace(string(text)))
		}
		return err
	})
}

// leadNowhere returns the names of the refs that don't seem to lead to an object, sorted.
func (r *Repo) leadNowhere(ctx context.Context, texts map[string]plumbing.OID) (doubtful []string, err error) {
	var names, asked []string
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if oid := texts[name]; oid.Valid() {
			names, asked = append(names, name), append(asked, string(oid))
		} else {
			doubtful = append(doubtful, name)
		}
	}
	sizes, err := r.History().SizesOf(ctx, asked)
	for i, size := range sizes {
		if size.OID == "" {
			doubtful = append(doubtful, names[i])
		}
	}
	slices.Sort(doubtful)
	return doubtful, err
}

// Delete deletes a broken ref, which git itself refuses. The ref has the value through for a
// moment. It returns ErrRefMoved if the ref is no longer broken in the same way.
func (b BrokenRefs) Delete(ctx context.Context, broken *BrokenRefError, through plumbing.OID) error {
	if err := b.Replace(ctx, broken, through); err != nil {
		return err
	}
	return b.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: broken.Ref, Old: through}}, "")
}
