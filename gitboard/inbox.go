package gitboard

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/landed"
	"github.com/git-liza/git-liza/gitboard/report"
)

// Inbox lists what waits for a human.
func (g *Glance) Inbox(now time.Time) (*report.Inbox, error) {
	return report.InboxOf(g.State, g.outside, now)
}

// mainline returns the repository's default branch, its commit and integration's. The branch is "" if
// one of them does not exist.
func (v *View) mainline(ctx context.Context) (branch string, at, integration plumbing.OID, err error) {
	config, repo := v.State.Config(), v.board.Repo()
	if config == nil {
		return "", "", "", v.State.Err()
	}
	branches := v.State.TaskBranches()
	not := []string{config.IntegrationBranch, plumbing.BranchName(plumbing.BoardRef)}
	v.State.EachBrief(func(b board.Brief) { not = append(not, branches.Of(b.ID)) })
	branch, err = repo.History().DefaultBranch(ctx, not...)
	if errors.Is(err, git.ErrNotFound) {
		return "", "", "", nil
	}
	if err == nil {
		at, err = repo.Ref(ctx, plumbing.BranchRef(branch))
	}
	if err == nil {
		integration, err = v.board.store.Ref(ctx, v.IntegrationRef())
	}
	if err != nil || at.IsZero() || integration.IsZero() {
		return "", "", "", err
	}
	return branch, at, integration, nil
}

// Behind compares the repository's default branch with integration. It returns nil if integration has
// all of it, also in another form, or one of them does not exist.
func (v *View) Behind(ctx context.Context) (*report.Behind, error) {
	into, at, tip, err := v.mainline(ctx)
	if into == "" || at == tip {
		return nil, err
	}
	lacks, err := v.board.Repo().History().RevList(ctx, tip, at)
	if err != nil || len(lacks) == 0 {
		return nil, err
	}
	if has, err := v.contains(ctx, tip, at); has || err != nil {
		return nil, err
	}
	// A later commit of integration can't have landed by the same commits.
	brought, err := kept(v, "brought.json", at, func() ([]plumbing.OID, error) { return v.brought(ctx, tip, at) })
	if err != nil {
		return nil, err
	}
	lacks = slices.DeleteFunc(lacks, func(c plumbing.OID) bool { return slices.Contains(brought, c) })
	if len(lacks) == 0 {
		return nil, nil
	}
	return &report.Behind{Integration: v.State.Config().IntegrationBranch, Into: into, Commits: len(lacks)}, nil
}

// brought lists the commits of the default branch that brought integration's work there in another form.
func (v *View) brought(ctx context.Context, tip, at plumbing.OID) (all []plumbing.OID, err error) {
	history := v.board.Repo().History()
	for {
		head, found, err := landed.Newest(ctx, v.board.Repo(), tip, at, maxTrials)
		if unrelated(err) || err == nil && !found.Done() {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		first, err := v.board.Repo().Object(ctx, string(found.From)+"^1")
		if err != nil {
			return nil, err
		}
		landing, err := history.RevList(ctx, first.OID, found.To)
		if err != nil {
			return nil, err
		}
		all, tip, at = append(all, landing...), head, first.OID
	}
}

func unrelated(err error) bool {
	return errors.Is(err, git.ErrNotFound) || errors.As(err, new(*git.CommandError))
}

// kept finds out something that depends on a key alone, unless the clone has kept it from before.
func kept[K comparable, V any](v *View, file string, of K, find func() (V, error)) (V, error) {
	var known struct {
		Of  K
		Was V
	}
	text, _ := v.board.Clone().Kept(file)
	if json.Unmarshal([]byte(text), &known) == nil && known.Of == of {
		return known.Was, nil
	}
	var err error
	known.Of = of
	if known.Was, err = find(); err != nil {
		return known.Was, err
	}
	if text, err := json.Marshal(known); err == nil {
		_ = v.board.Clone().Keep(file, string(text)) // a clone that can't be written to finds out each time
	}
	return known.Was, nil
}

// maxTrials is how many merges are tried to find out what the default branch has in another form.
const maxTrials = 128

// Ahead compares integration with the repository's default branch. It returns nil if one of them
// does not exist.
func (v *View) Ahead(ctx context.Context) (*report.Ahead, error) {
	into, at, tip, err := v.mainline(ctx)
	if into == "" {
		return nil, err
	}
	var merged []string
	v.State.EachBrief(func(b board.Brief) {
		if b.Status == board.Merged {
			merged = append(merged, b.ID)
		}
	})
	type key struct {
		Main, Integration plumbing.OID
		Tasks             int
	}
	a, err := kept(v, "ahead.json", key{at, tip, len(merged)}, func() (a report.Ahead, err error) {
		a.Tasks = len(merged)
		return a, v.compare(ctx, &a, at, tip, merged)
	})
	if err != nil {
		return nil, err
	}
	a.Integration, a.Into = v.State.Config().IntegrationBranch, into
	checkouts, err := v.board.Repo().CheckedOut(ctx, plumbing.BranchRef(into))
	a.CheckedOut = len(checkouts) > 0
	return &a, err
}

// compare counts what the default branch lacks of integration: commits, and merged tasks.
func (v *View) compare(ctx context.Context, a *report.Ahead, main, tip plumbing.OID, merged []string) error {
	history := v.board.Repo().History()
	lacks, err := history.RevList(ctx, main, tip)
	if err != nil {
		return err
	}
	if len(lacks) > 0 {
		has, err := v.contains(ctx, main, tip)
		if err != nil {
			return err
		}
		if has {
			lacks = nil
		}
	}
	if len(lacks) > 0 {
		if lacks, err = v.afterLanding(ctx, main, tip, lacks); err != nil {
			return err
		}
	}
	missing := make(map[string]bool, len(lacks))
	for _, commit := range lacks {
		missing[string(commit)] = true
	}
	a.Commits, a.Landed = len(lacks), len(merged)
	for _, id := range merged {
		if t := v.State.Task(id); a.Commits > 0 && t != nil && missing[t.MergeCommit] {
			a.Landed--
		}
	}
	return v.State.Err()
}

// afterLanding leaves out of the commits that the default branch lacks what it has in another form:
// it may have moved on after a squash or a rebase, or integration did.
func (v *View) afterLanding(ctx context.Context, main, tip plumbing.OID, lacks []plumbing.OID) ([]plumbing.OID, error) {
	repo := v.board.Repo()
	head, found, err := landed.Newest(ctx, repo, tip, main, maxTrials)
	if unrelated(err) {
		return lacks, nil
	}
	if err != nil || !found.Done() {
		return lacks, err
	}
	after, err := repo.History().RevList(ctx, head, tip)
	return slices.DeleteFunc(lacks, func(c plumbing.OID) bool { return !slices.Contains(after, c) }), err
}

// contains reports whether a commit has the content of another: a merge of the two changes nothing,
// as after a squash or a rebase.
func (v *View) contains(ctx context.Context, commit, other plumbing.OID) (bool, error) {
	repo := v.board.Repo()
	has, err := repo.Object(ctx, string(commit)+"^{tree}")
	if err != nil {
		return false, err
	}
	tree, conflicts, err := repo.History().TryMerge(ctx, commit, other)
	if errors.As(err, new(*git.CommandError)) { // their histories are unrelated, say
		return false, nil
	}
	return tree == has.OID && len(conflicts) == 0, err
}
