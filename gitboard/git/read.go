package git

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Object reads one object by any name that git understands: an id, a ref, "rev:path". It sees
// everything that other processes have written so far. HEAD is that of the main worktree. It
// returns ErrNotFound if there is no such object, if a short id is ambiguous, if the object is
// damaged, and for names that make git die, such as an entry beyond the end of a reflog.
func (r *Repo) Object(ctx context.Context, name string) (plumbing.Object, error) {
	objects, err := r.Objects(ctx, []string{name})
	if err != nil {
		return plumbing.Object{}, err
	}
	if objects[0].OID == "" {
		return plumbing.Object{}, fmt.Errorf("object %q: %w", name, ErrNotFound)
	}
	return objects[0], nil
}

// Objects reads many objects in one exchange with git, or none for a few that are at hand, in the
// order of names. A missing or damaged one has OID "". All of them are held in memory, and their
// contents must not be changed.
func (r *Repo) Objects(ctx context.Context, names []string) ([]plumbing.Object, error) {
	objects := make([]plumbing.Object, len(names))
	var asked []string
	var at []int
	for i, name := range names {
		o, is := r.known.get(plumbing.OID(name))
		if !is && len(names) <= knownMany {
			o, is = r.atHand(name)
		}
		if is {
			objects[i] = o
			continue
		}
		if !askable(name) {
			continue
		}
		asked, at = append(asked, name), append(at, i)
	}
	if len(asked) == 0 {
		return objects, ctx.Err() // as if it had asked
	}
	answers, err := r.batch.Ask(ctx, asked)
	if err != nil {
		return nil, err
	}
	r.fromKept(ctx, asked, answers)
	if len(answers) <= knownMany {
		r.known.add(answers)
	}
	for i, answer := range answers {
		objects[at[i]] = answer
	}
	return objects, nil
}

// askable reports whether a name can be passed to cat-file, which reads one name per line and dies
// of paths that are relative to a directory in a worktree.
func askable(name string) bool {
	if strings.ContainsAny(name, "\n\x00") {
		return false
	}
	return !strings.Contains(name, ":./") && !strings.Contains(name, ":../")
}

// FileOID returns the id of the file at a path relative to the top of the commit's tree. It returns
// ErrNotFound if there is no file there; a directory is not a file.
func (h History) FileOID(ctx context.Context, commit plumbing.OID, file string) (plumbing.OID, error) {
	missing := fmt.Errorf("file %q in %s: %w", file, commit.Short(), ErrNotFound)
	if !commit.Valid() || commit.IsZero() {
		return "", missing
	}
	// After Clean, a path that leads out of the tree still begins with "../" and is not found.
	object, err := h.repo.Object(ctx, string(commit)+":"+path.Clean(file))
	if err != nil {
		return "", err
	}
	if object.Type != plumbing.BlobObject {
		return "", missing
	}
	return object.OID, nil
}
