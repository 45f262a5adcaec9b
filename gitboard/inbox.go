package gitboard

import (
	"context"
	"errors"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
)

// Inbox lists what waits for a human.
func (g *Glance) Inbox(now time.Time) (*report.Inbox, error) {
	return report.InboxOf(g.State, g.beside, now)
}

// mainline returns the repository's default branch, its commit and integration's. The branch is "" if
// one of them does not exist.
func (v *View) mainline(ctx context.Context) (branch string, at, integration plumbing.OID, err error) {
	config, repo := v.State.Config(), v.board.Repo()
	if config == nil {
		return "", "", "", v.State.Err()
	}
	branch, err = repo.History().DefaultBranch(ctx, config.IntegrationBranch)
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

// Behind counts the commits of the repository's default branch that integration lacks, unless it has
// their content.
func (v *View) Behind(ctx context.Context) (commits int, branch string, err error) {
	branch, at, tip, err := v.mainline(ctx)
	if branch == "" || at == tip {
		return 0, branch, err
	}
	if commits, err = v.board.Repo().History().CountCommits(ctx, tip, at); err != nil || commits == 0 {
		return 0, branch, err
	}
	has, err := v.contains(ctx, tip, at)
	if has {
		commits = 0
	}
	return commits, branch, err
}

// Ahead compares integration with the repository's default branch. It returns nil if one of them
// does not exist.
func (v *View) Ahead(ctx context.Context) (*report.Ahead, error) {
	repo := v.board.Repo()
	into, from, tip, err := v.mainline(ctx)
	if into == "" {
		return nil, err
	}
	a := &report.Ahead{Integration: v.State.Config().IntegrationBranch, Into: into}
	if a.Commits, err = repo.History().CountCommits(ctx, from, tip); err != nil {
		return nil, err
	}
	if a.Commits > 0 {
		has, err := v.contains(ctx, from, tip)
		if err != nil {
			return nil, err
		}
		if has {
			a.Commits = 0
		}
	}
	checkouts, err := repo.CheckedOut(ctx, plumbing.BranchRef(into))
	a.CheckedOut = len(checkouts) > 0
	return a, err
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
