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

// aheadFile keeps what was found out about integration and the default branch, for as long as they
// stay: that takes trial merges.
const aheadFile = "ahead.json"

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
	var known struct {
		Of  key
		Was report.Ahead
	}
	of := key{at, tip, len(merged)}
	text, _ := v.board.Clone().Kept(aheadFile)
	if json.Unmarshal([]byte(text), &known) != nil || known.Of != of {
		known.Of, known.Was = of, report.Ahead{Tasks: len(merged)}
		if err := v.compare(ctx, &known.Was, at, tip, merged); err != nil {
			return nil, err
		}
		if text, err := json.Marshal(known); err == nil {
			_ = v.board.Clone().Keep(aheadFile, string(text)) // a clone that can't be written to is compared each time
		}
	}
	a := known.Was
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
	if errors.Is(err, git.ErrNotFound) || errors.As(err, new(*git.CommandError)) { // unrelated histories
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
