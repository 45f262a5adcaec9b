package git

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// ChangedFiles returns the paths that differ between the trees of a and b, sorted. A moved file is
// listed under both paths. A zero id is the empty tree.
func (h History) ChangedFiles(ctx context.Context, a, b plumbing.OID) ([]string, error) {
	out, err := h.repo.diffTree(ctx, a, b, []string{"--name-only", "-z", "--no-renames"})
	return child.Fields(out), err
}

// Diff returns the difference between the trees of a and b as a patch for people, with renames
// detected. If paths are given (files or directories, taken literally), it is limited to them. A
// zero id is the empty tree.
func (h History) Diff(ctx context.Context, a, b plumbing.OID, paths ...string) (string, error) {
	if err := h.repo.promisedAll(ctx, a, b); err != nil {
		return "", err
	}
	out, err := h.repo.diffTree(ctx, a, b, []string{
		"--patch", "--find-renames", "--no-color", "--no-ext-diff", "--no-textconv",
		"--src-prefix=a/", "--dst-prefix=b/",
	}, paths...)
	return string(out), err
}

// Unresolved returns the conflict markers that b adds to a, as FILE:LINE.
func (h History) Unresolved(ctx context.Context, a, b plumbing.OID) ([]string, error) {
	patch, err := h.Diff(ctx, a, b)
	return plumbing.Unresolved(patch), err
}

// RangeDiff compares two series of commits, each from its base, as a text for people: which commit
// became which, and how its patch changed.
func (h History) RangeDiff(ctx context.Context, oldBase, old, newBase, new plumbing.OID) (string, error) {
	if err := checkOIDs(oldBase, old, newBase, new); err != nil {
		return "", err
	}
	out, err := h.repo.comparing("range-diff", "--no-color", "--no-ext-diff", "--no-textconv",
		string(oldBase)+".."+string(old), string(newBase)+".."+string(new)).Output(ctx)
	return string(out), err
}

// DiffBlobs returns the difference between two blobs as a patch for people, without a file header.
func (h History) DiffBlobs(ctx context.Context, a, b plumbing.OID) (string, error) {
	if err := checkOIDs(a, b); err != nil {
		return "", err
	}
	out, err := h.repo.comparing("diff", "--no-color", "--no-ext-diff", "--no-textconv", string(a), string(b), "--").Output(ctx)
	if at := strings.Index(string(out), "\n@@"); at >= 0 {
		return string(out[at+1:]), err
	}
	return string(out), err
}

func (r *Repo) diffTree(ctx context.Context, a, b plumbing.OID, options []string, paths ...string) ([]byte, error) {
	a, b = orEmptyTree(a), orEmptyTree(b)
	if err := checkOIDs(a, b); err != nil {
		return nil, err
	}
	args := slices.Concat([]string{"-r", "--ignore-submodules=none"}, options, []string{string(a), string(b), "--"}, paths)
	return r.comparing("diff-tree", args...).With("GIT_LITERAL_PATHSPECS=1").Output(ctx)
}

// comparing is a command that compares objects. Git would read the index first, and fail if that is
// damaged.
func (r *Repo) comparing(name string, args ...string) command {
	return r.command(name, slices.Concat([]string{name}, args)...).With("GIT_INDEX_FILE=" + filepath.Join(r.common, "liza", "no-index"))
}

func orEmptyTree(oid plumbing.OID) plumbing.OID {
	if oid.IsZero() {
		return plumbing.EmptyTree
	}
	return oid
}
