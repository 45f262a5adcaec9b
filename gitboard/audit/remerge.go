package audit

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/landed"
	"github.com/git-liza/git-liza/gitboard/text"
)

// mergers is how many merges are computed in parallel.
const mergers = 4

// remerged is the result of computing a merge again.
type remerged struct {
	text   string // the difference, "" for none
	wrong  bool   // no version of git would produce the difference
	choice bool   // another version of git may produce it
	err    error
}

// mergeAgain computes merges again. A difference is only noted if it is a choice between the lines
// of both sides where both changed the same ones, which may depend on the version of git, or the
// result of a merge driver. In a push the former is refused, too.
func (p *replay) mergeAgain(ctx context.Context, repo *git.Repo, merges []evidence, pushed bool) error {
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
		case r.wrong || r.choice && pushed:
			p.report.add(f)
		case r.text != "":
			p.report.note(f)
		}
		failed = errors.Join(failed, r.err)
	}
	return failed
}

// remerge computes a merge again.
func remerge(ctx context.Context, repo *git.Repo, e evidence) remerged {
	onto, review := e.clean[0], e.clean[1]
	var recorded plumbing.OID
	if e.lands != nil {
		c, err := commitOf(ctx, repo, e.lands.after)
		if err != nil {
			return remerged{err: err}
		}
		if len(c.Parents) != 2 || c.Parents[1] != e.lands.review {
			return remerged{text: fmt.Sprintf("%s is not a merge of %s", e.lands.after.Short(), e.lands.brought())}
		}
		onto, review, recorded = c.Parents[0], e.lands.review, c.Tree
		if e.lands.as != nil {
			var wrong string
			if review, wrong, err = standIn(ctx, repo, e.lands); err != nil || wrong != "" {
				return remerged{text: wrong, wrong: wrong != "", err: err}
			}
		}
	}
	tree, conflicts, err := repo.History().TryMerge(ctx, onto, review)
	switch {
	case refused(err):
		return remerged{text: "the merge can't be computed again: " + err.Error()}
	case err != nil:
		return remerged{err: err}
	case recorded == "" && len(conflicts) > 0:
		return remerged{text: "computed again, the merge has conflicts in " + text.Plural(len(conflicts), "file")}
	case recorded == "" || tree == recorded:
		return remerged{}
	}
	r := remerged{text: fmt.Sprintf("computed again, the merge gives the tree %s, and %s has %s", tree.Short(), e.lands.after.Short(), recorded.Short())}
	if _, _, r.err = repo.History().MergeTree(ctx, onto, review); r.err != nil { // its files are compared
		return r
	}
	why, err := differs(ctx, repo, [2]plumbing.OID{onto, review}, tree, recorded)
	r.wrong, r.choice, r.err = why.wrong, why.choice, err
	r.text += why.text
	return r
}

// standIn makes the commit that stood for the merged branch in the merge of a landing, or describes
// why the branch does not have integration's work as recorded.
func standIn(ctx context.Context, repo *git.Repo, l *landingEvidence) (commit plumbing.OID, wrong string, err error) {
	head, last, before := plumbing.OID(l.as.Head), plumbing.OID(l.as.Landed), plumbing.OID(l.as.Before)
	for _, pair := range [][2]plumbing.OID{{head, l.before}, {before, last}, {last, l.review}} {
		if is, err := repo.History().IsAncestor(ctx, pair[0], pair[1]); err != nil {
			return "", "", err
		} else if !is {
			return "", fmt.Sprintf("%s is not in the history of %s, so that nothing landed as recorded", pair[0].Short(), pair[1].Short()), nil
		}
	}
	tree, clean, err := landed.MergedTree(ctx, repo, before, head)
	if err != nil {
		return "", "", err
	}
	is, err := commitOf(ctx, repo, last)
	if err != nil {
		return "", "", err
	}
	if !clean || tree != is.Tree {
		return "", fmt.Sprintf("%s does not have what a merge of %s with %s gives: that did not land as recorded", last.Short(), head.Short(), before.Short()), nil
	}
	if before == last {
		return "", fmt.Sprintf("%s is recorded as landed on %s itself, so that nothing landed", last.Short(), before.Short()), nil
	}
	if squash := is.Parents[0] == before; squash != (l.as.Kind == string(landed.Squash)) {
		return "", fmt.Sprintf("%s did not land on %s by a %s", last.Short(), before.Short(), l.as.Kind), nil
	}
	merged, err := commitOf(ctx, repo, l.review)
	if err != nil {
		return "", "", err
	}
	stand := landed.StandIn(merged.Tree, head, before)
	return stand.OID, "", repo.WriteObjects(ctx, []plumbing.Object{stand})
}
