package git

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/settings"
)

// MergeTree merges two commits without a worktree (git-merge-tree, --write-tree) and returns the
// resulting tree, flushed to disk. The attributes are those of ours (gitattributes); a file whose
// driver the user's own settings don't define is a conflict. On conflicts it also returns their
// paths, and the tree holds files with conflict markers. It returns a CommandError if one of the
// ids is not a commit here, or if their histories are unrelated.
func (h History) MergeTree(ctx context.Context, ours, theirs plumbing.OID) (tree plumbing.OID, conflicts []string, err error) {
	if err := h.repo.mergeable(ctx, ours, theirs); err != nil {
		return "", nil, err
	}
	return h.repo.mergeApart(ctx, ours, theirs, false)
}

// TryMerge is MergeTree for callers that need no object of the result. It leaves none if there is
// room for temporary files, and also works where the repository can't be written to.
func (h History) TryMerge(ctx context.Context, ours, theirs plumbing.OID) (tree plumbing.OID, conflicts []string, err error) {
	if err := h.repo.mergeable(ctx, ours, theirs); err != nil {
		return "", nil, err
	}
	return h.repo.mergeApart(ctx, ours, theirs, true)
}

// errKept means that the objects of a merge have not been discarded.
var errKept = errors.New("no merge was tried")

func (r *Repo) mergeApart(ctx context.Context, ours, theirs plumbing.OID, discard bool) (tree plumbing.OID, conflicts []string, err error) {
	a, err := r.mergePlace(ctx, ours, theirs)
	if err != nil {
		return "", nil, err
	}
	defer a.remove()
	tree, conflicts, err = a.merge(ctx, ours, theirs, discard)
	if len(conflicts) > 0 && a.normalizes(ctx, theirs) {
		var left []string
		var again plumbing.OID
		if again, left, err = a.merge(ctx, ours, theirs, discard, "-c", "merge.renormalize=true"); err == nil && len(left) == 0 {
			return again, nil, nil
		}
	}
	if err != nil && ctx.Err() == nil { // git may even crash
		for _, commit := range []plumbing.OID{ours, theirs} {
			if malformed := r.malformedTree(ctx, commit); malformed != nil {
				return "", nil, malformed
			}
		}
	}
	return tree, conflicts, err
}

func (a *mergePlace) merge(ctx context.Context, ours, theirs plumbing.OID, discard bool, set ...string) (tree plumbing.OID, conflicts []string, err error) {
	merge := a.command("merge-tree", append(set, mergeTree(string(ours), theirs)...)...)
	err = errKept
	if discard {
		if scrapped, remove, unmade := a.r.discarding(merge); unmade == nil {
			defer remove()
			tree, conflicts, err = readMergeTree(ctx, scrapped, ours, theirs)
		}
	}
	if err != nil { // or there is no room for temporary files
		tree, conflicts, err = readMergeTree(ctx, merge, ours, theirs)
	}
	return tree, conflicts, err
}

// mergeable returns an error if what a merge of two commits needs is not here.
func (r *Repo) mergeable(ctx context.Context, ours, theirs plumbing.OID) error {
	if err := checkOIDs(ours, theirs); err != nil || !settings.ReadOwn(r.common).MayLack() {
		return err
	}
	base, _ := r.History().MergeBase(ctx, ours, theirs) // git reports the fault without one
	return r.promisedAll(ctx, ours, theirs, base)
}

// mergeTree returns the arguments of git-merge-tree. Conflict markers contain ours as it is given.
func mergeTree(ours string, theirs plumbing.OID) []string {
	return slices.Concat(durable, []string{"merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, string(theirs)})
}

func readMergeTree(ctx context.Context, merge command, ours, theirs plumbing.OID) (tree plumbing.OID, conflicts []string, err error) {
	out, err := merge.Output(ctx)
	// Exit code 1 means a conflict only if a tree precedes the paths; a bad revision also exits
	// with 1, but prints nothing on stdout.
	if code := child.ExitCode(err); code != 0 && code != 1 {
		if old := RequireVersion(ctx); old != nil {
			return "", nil, old // --write-tree sets the minimum version of git
		}
		return "", nil, err
	}
	fields := child.Fields(out)
	if len(fields) == 0 || !plumbing.OID(fields[0]).Valid() {
		if err == nil {
			err = fmt.Errorf("merge %s into %s: git merge-tree gave no tree", theirs.Short(), ours.Short())
		}
		return "", nil, err
	}
	if err != nil {
		conflicts = fields[1:]
	}
	return plumbing.OID(fields[0]), conflicts, nil
}
