package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/plain"
)

// mergers is how many merges are computed in parallel.
const mergers = 4

// remerged is the result of computing a merge again.
type remerged struct {
	text  string // the difference, "" for none
	wrong bool   // no version of git would produce the difference
	err   error
}

// mergeAgain computes merges again. A difference in a file that both sides changed is only noted,
// because the result depends on git's version and settings. In any other file there is nothing to
// merge, so its content must be one side's or the other's.
func (p *replay) mergeAgain(ctx context.Context, repo *gitio.Repo, merges []evidence) error {
	results := make([]remerged, len(merges))
	next := make(chan int)
	var busy sync.WaitGroup
	for range min(mergers, len(merges)) {
		busy.Go(func() {
			for i := range next {
				results[i] = remerge(ctx, repo, merges[i])
			}
		})
	}
	for i := range merges {
		next <- i
	}
	close(next)
	busy.Wait()
	var failed error
	for i, r := range results {
		f := Finding{merges[i].commit, merges[i].subject, CodeEvidence, r.text}
		switch {
		case r.wrong:
			p.report.add(f)
		case r.text != "":
			p.report.note(f)
		}
		failed = errors.Join(failed, r.err)
	}
	return failed
}

// remerge computes a merge again.
func remerge(ctx context.Context, repo *gitio.Repo, e evidence) remerged {
	onto, review := e.clean[0], e.clean[1]
	var recorded git.OID
	if e.lands != nil {
		c, err := commitOf(ctx, repo, e.lands.after)
		if err != nil {
			return remerged{err: err}
		}
		if len(c.Parents) != 2 || c.Parents[1] != e.lands.review {
			return remerged{text: fmt.Sprintf("%s is not a merge of the approved commit", e.lands.after.Short())}
		}
		onto, review, recorded = c.Parents[0], e.lands.review, c.Tree
	}
	tree, conflicts, err := repo.TryMerge(ctx, onto, review)
	switch {
	case refused(err):
		return remerged{text: "the merge can't be computed again: " + err.Error()}
	case err != nil:
		return remerged{err: err}
	case recorded == "" && len(conflicts) > 0:
		return remerged{text: "computed again, the merge has conflicts in " + plain.Plural(len(conflicts), "file")}
	case recorded == "" || tree == recorded:
		return remerged{}
	}
	r := remerged{text: fmt.Sprintf("computed again, the merge gives the tree %s, and %s has %s", tree.Short(), e.lands.after.Short(), recorded.Short())}
	if _, _, r.err = repo.MergeTree(ctx, onto, review); r.err != nil { // its files are compared
		return r
	}
	path, err := onlyHere(ctx, repo, [2]git.OID{onto, review}, tree, recorded)
	if path != "" {
		r.wrong = true
		r.text += fmt.Sprintf("; %q was not changed on both sides, and is neither side's there", path)
	}
	r.err = err
	return r
}

// onlyHere finds a file that differs between two results of a merge although only one side, or
// neither, changed it; "" for none.
func onlyHere(ctx context.Context, repo *gitio.Repo, sides [2]git.OID, computed, recorded git.OID) (string, error) {
	base, err := repo.MergeBase(ctx, sides[0], sides[1])
	if err != nil {
		return "", err
	}
	differs, err := repo.ChangedFiles(ctx, computed, recorded)
	if err != nil {
		return "", err
	}
	var changed [2][]string
	for i, side := range sides {
		if changed[i], err = repo.ChangedFiles(ctx, base, side); err != nil {
			return "", err
		}
	}
	for _, path := range differs {
		_, ours := slices.BinarySearch(changed[0], path)
		_, theirs := slices.BinarySearch(changed[1], path)
		if !ours || !theirs {
			return path, nil
		}
	}
	return "", nil
}
