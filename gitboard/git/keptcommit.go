package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// maxKept is how many bytes of a commit are kept; of a larger one, the longest files are not.
const maxKept = 16 << 20

// Keep keeps what git has written of a commit and neither its parents nor certain trees have, as
// WriteObjects keeps its objects: the ref that is to hold it may come too late for a `git prune`
// that runs. The error is a DamagedError if some of it is gone already. Objects that a partial
// clone has yet to fetch were not written in it.
func (u Upkeep) Keep(ctx context.Context, commit plumbing.OID, held ...plumbing.OID) error {
	options := []string{"--objects", "--no-object-names", "--missing=allow-promisor", "^" + string(commit) + "^@"}
	for _, tree := range held {
		options = append(options, "^"+string(tree))
	}
	names, err := u.repo.revList(ctx, plumbing.ZeroOID, commit, options...)
	if err != nil {
		return err
	}
	sizes, err := u.repo.History().SizesOf(ctx, names)
	if err != nil {
		return err
	}
	sort.SliceStable(sizes, func(i, j int) bool { return sizes[i].Bytes < sizes[j].Bytes })
	names = names[:0]
	left := int64(maxKept)
	for _, s := range sizes {
		if left -= s.Bytes; left >= 0 {
			names = append(names, string(s.OID))
		}
	}
	return u.repo.keepNamed(ctx, commit, names)
}

// keepFetched is Keep for what a fetch brought, given the refs before and after it. Git has kept a pack
// of many objects, which needs no copy.
func (r *Repo) keepFetched(ctx context.Context, before, after map[string]plumbing.OID) error {
	var tips, input []string
	for ref, at := range after {
		if before[ref] != at {
			tips = append(tips, string(at))
		}
	}
	if len(tips) == 0 {
		return nil
	}
	for _, at := range before {
		input = append(input, "^"+string(at))
	}
	list := r.command("rev-list", "rev-list", "--objects", "--no-object-names", "--ignore-missing", "--missing=allow-promisor",
		fmt.Sprintf("--filter=blob:limit=%d", maxKept/packFrom), "--stdin")
	out, err := list.Feed([]byte(strings.Join(append(input, tips...), "\n") + "\n")).Output(ctx)
	if child.ExitCode(err) == child.Died {
		return &DamagedError{Commit: plumbing.OID(tips[0]), Err: err}
	}
	names := child.Lines(out)
	if err != nil || len(names) >= packFrom {
		return err
	}
	return r.keepNamed(ctx, plumbing.OID(tips[0]), append(names, tips...))
}

// keepNamed keeps objects of a commit.
func (r *Repo) keepNamed(ctx context.Context, commit plumbing.OID, names []string) error {
	objects, err := r.Objects(ctx, names)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(objects, func(o plumbing.Object) bool { return o.OID == "" }); i >= 0 {
		return &DamagedError{Commit: commit, Object: plumbing.OID(names[i])}
	}
	path, err := r.keep(objects)
	r.unsettled.Add(path, objects)
	return err
}

// KeptWhole calls write, which lets git write a commit and then keeps it (Keep), again where a `git
// prune` that ran between the two has deleted a part: a DamagedError. Each prune deletes only what
// was there when it looked.
func KeptWhole(write func() (plumbing.OID, error)) (commit plumbing.OID, err error) {
	for range pruned {
		if commit, err = write(); !errors.As(err, new(*DamagedError)) {
			break
		}
	}
	return commit, err
}

// pruned is how often objects are written that a prune deletes each time before a ref holds them. In
// a young repository each of a loop of prunes may meet such a moment.
const pruned = 5
