package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// recheck checks the operations' claims about the repository against it.
func (p *replay) recheck(ctx context.Context, repo *git.Repo) error {
	if err := p.aliases(ctx, repo); err != nil || len(p.evidence) == 0 && p.begun == "" {
		return err
	}
	missing, err := p.lookUp(ctx, repo)
	if err != nil {
		return err
	}
	excused, err := p.excuse(ctx, repo)
	if err != nil {
		return err
	}
	line, err := p.integration(ctx, repo)
	if err != nil {
		return err
	}
	absent := 0
	var more recounted
	for i, e := range p.evidence {
		gone := missing[i]
		switch {
		case len(gone) > 0 && excused:
			absent++
			p.report.Unchecked++
			continue
		case len(gone) > 0:
			p.lacks(e, gone)
			continue
		case line == nil && e.lands != nil:
			p.report.Unchecked++
			continue
		}
		held := true
		if e.lands != nil {
			if held, err = p.landed(ctx, repo, line, e); lacking(err) {
				p.report.add(Finding{e.commit, e.subject, CodeEvidence, fmt.Sprintf("what landed, %s, can't be read completely: %v", e.lands.after.Short(), err)})
			} else if err != nil {
				return err
			}
		}
		if held {
			p.report.Checked++
		}
		more.add(e)
	}
	if absent > 0 {
		p.report.note(Finding{p.report.To, "", CodeEvidence, fmt.Sprintf("%d operations name commits that this clone was not given: they can't be checked here", absent)})
	}
	if err := p.recount(ctx, repo, line, more, missing, false); err != nil {
		return err
	}
	if line == nil {
		return nil
	}
	p.moves(line)
	return p.behindClaim(ctx, repo, line, missing)
}

// recounted is the evidence that is computed again from the repository's objects.
type recounted struct{ merges, submissions, comments, brought []evidence }

func (r *recounted) add(e evidence) {
	if e.clean[0] != "" || e.lands != nil && e.lands.mergeType == board.MergeCommitType {
		r.merges = append(r.merges, e)
	}
	if e.brings() {
		r.brought = append(r.brought, e)
	}
	if e.handed != nil {
		r.submissions = append(r.submissions, e)
	}
	if e.comment != nil {
		r.comments = append(r.comments, e)
	}
}

// recount computes evidence again. pushed means that the operations are not on the board yet.
func (p *replay) recount(ctx context.Context, repo *git.Repo, line *line, all recounted, missing map[int][]need, pushed bool) error {
	if err := p.mergeAgain(ctx, repo, all.merges, pushed); err != nil {
		return err
	}
	if err := p.wellFormed(ctx, repo, all.brought); err != nil {
		return err
	}
	submissions, changed, err := p.whole(ctx, repo, all.submissions)
	if err != nil {
		return fmt.Errorf("list what submissions change: %w", err)
	}
	if err := cmp.Or(p.commented(ctx, repo, all.comments), p.rejected(ctx, repo, missing)); err != nil {
		return err
	}
	return p.work(ctx, repo, line, submissions, changed)
}

// lacks reports missing objects that an operation refers to.
func (p *replay) lacks(e evidence, gone []need) {
	for _, n := range gone {
		p.report.add(Finding{e.commit, e.subject, CodeEvidence, fmt.Sprintf("%s %s is not a %s here", n.field, n.oid, n.kind)})
	}
}

// lookUp finds the missing objects, by the index of the evidence.
func (p *replay) lookUp(ctx context.Context, repo *git.Repo) (map[int][]need, error) {
	type asked struct {
		at   int
		need need
	}
	var all []asked
	for i, e := range p.evidence {
		for _, n := range e.needs {
			all = append(all, asked{i, n})
		}
	}
	missing := map[int][]need{}
	for part := range slices.Chunk(all, batchSize) {
		names := make([]string, len(part))
		for i, a := range part {
			names[i] = string(a.need.oid)
		}
		objects, err := repo.History().SizesOf(ctx, names) // an object may be of any size
		if err != nil {
			return nil, fmt.Errorf("look evidence up: %w", err)
		}
		for i, o := range objects {
			if o.OID != part[i].need.oid || o.Type != part[i].need.kind {
				missing[part[i].at] = append(missing[part[i].at], part[i].need)
			}
		}
	}
	return missing, nil
}

// excuse reports whether a clone may lack commits: because it is shallow, or because it was made by
// a plain `git clone`, which brings only branches, not the submitted commits under
// refs/liza/review.
func (p *replay) excuse(ctx context.Context, repo *git.Repo) (bool, error) {
	if repo.Shallow() {
		return true, nil
	}
	kept, err := p.store.Refs(ctx, plumbing.ReviewPrefix)
	return len(kept) == 0, err
}

// landed checks one recorded move of integration.
func (p *replay) landed(ctx context.Context, repo *git.Repo, line *line, e evidence) (bool, error) {
	held := true
	bad := func(raw string) {
		held = false
		p.report.add(Finding{e.commit, e.subject, CodeEvidence, raw})
	}
	l := e.lands
	for _, pair := range []struct {
		old, new plumbing.OID
		raw      string
	}{
		{l.after, line.tip, fmt.Sprintf("%s is not on %s", l.after, line)},
		{l.review, l.after, fmt.Sprintf("%s does not hold %s", l.after, l.brought())},
		{l.before, l.after, fmt.Sprintf("%s does not follow from %s, where integration was", l.after, l.before)},
		{l.base, l.before, fmt.Sprintf("%s, which the review began at, was not on integration at %s: nobody was shown what came before it", l.base, l.before)},
	} {
		if pair.old.IsZero() || pair.new.IsZero() {
			continue
		}
		switch ok, err := line.holds(ctx, repo, pair.old, pair.new); {
		case err != nil:
			return false, err
		case !ok:
			bad(pair.raw)
		}
	}
	if len(l.files) > 0 && held {
		changed, err := repo.History().ChangedFiles(ctx, l.before, l.after)
		if err != nil {
			return false, err
		}
		if i := slices.IndexFunc(changed, func(file string) bool { return !slices.Contains(l.files, file) }); i >= 0 {
			bad(fmt.Sprintf("%s changes %s, which the landing does not name", l.after, text.Line(changed[i], 80)))
		}
	}
	if l.review.IsZero() {
		return held, nil
	}
	if !l.undoes[0].IsZero() {
		undone, err := undoes(ctx, repo, l)
		if err != nil {
			return false, err
		}
		if !undone {
			bad(fmt.Sprintf("%s does not undo %s", l.review, l.undoes[0]))
		}
	}
	if l.mergeType != board.MergeCommitType {
		return held, nil // by the board's rules, it is the approved commit itself
	}
	parents, err := line.parents(ctx, repo, l.after)
	if err != nil {
		return false, err
	}
	if !slices.Equal(parents, []plumbing.OID{l.before, l.review}) {
		bad(fmt.Sprintf("%s is not a merge of %s and %s", l.after, l.before, l.brought()))
	}
	return held, nil
}

// undoes reports whether the commit that a revert merged follows a merge commit, with the files that
// integration had before it.
func undoes(ctx context.Context, repo *git.Repo, l *landingEvidence) (bool, error) {
	undo, err := commitOf(ctx, repo, l.review)
	if err != nil {
		return false, err
	}
	before, err := commitOf(ctx, repo, l.undoes[1])
	return err == nil && undo.Tree == before.Tree && slices.Equal(undo.Parents, l.undoes[:1]), err
}
