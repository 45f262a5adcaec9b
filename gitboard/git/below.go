package git

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Below returns the values of the refs below prefixes, which end in "/", by full name. Where refs
// are files it starts no child.
func (r *Repo) Below(ctx context.Context, prefixes ...string) (map[string]plumbing.OID, error) {
	if r.plain {
		if refs, err := r.filesBelow(prefixes); err == nil {
			return refs, ctx.Err() // as if it had asked
		}
	}
	refs, err := r.Refs(ctx, prefixes...)
	values := make(map[string]plumbing.OID, len(refs))
	for _, ref := range refs {
		values[ref.Name] = ref.OID
	}
	return values, err
}

// filesBelow reads refs from their files. The file of packed refs comes last, so that a ref that is
// being packed is not missed. The error means that git has to be asked.
func (r *Repo) filesBelow(prefixes []string) (map[string]plumbing.OID, error) {
	loose := map[string]plumbing.OID{}
	for _, prefix := range prefixes {
		err := fs.WalkDir(os.DirFS(r.common), strings.TrimSuffix(prefix, "/"), func(name string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) || err == nil && (entry.IsDir() || strings.HasSuffix(name, ".lock")) {
				return nil
			}
			if err != nil {
				return err
			}
			text, err := r.refText(name)
			if err != nil || text == nil {
				return err // without a text it has been deleted
			}
			if loose[name] = plumbing.OID(*text); !loose[name].Valid() || loose[name].IsZero() {
				return &BrokenRefError{Ref: name, Text: *text}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	refs, err := r.packedRefs("packed-refs", func(name string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})
	if err == nil {
		maps.Copy(refs, loose)
	}
	return refs, err
}
