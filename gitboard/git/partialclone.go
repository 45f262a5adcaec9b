package git

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/network"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/settings"
)

// promisors lists the remotes that promise what a partial clone has left out. It starts no child if
// this is clearly none.
func (r *Repo) promisors(ctx context.Context) (names []string, err error) {
	if !settings.ReadOwn(r.common).MayLack() {
		return nil, nil
	}
	out, err := r.command("config", "config", "--null", "--type=bool", "--get-regexp", `^remote\..*\.promisor$`).Output(ctx)
	if child.ExitCode(err) == 1 {
		return nil, nil // no such setting
	}
	for _, entry := range child.Fields(out) {
		if key, value, _ := strings.Cut(entry, "\n"); value == "true" {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".promisor"))
		}
	}
	return names, err
}

// promised fetches the files of a commit that a partial clone has left out. Git would fetch them on
// demand, with a child that may wait forever; this one has the timeout of every other network
// command. A sparse checkout needs few files, and only git knows which, so it is left to git. If
// several remotes are promisors, they are asked in turn until one succeeds.
//
// Errors: a NetworkError, or another error if a remote does not deliver what it promised.
func (r *Repo) promised(ctx context.Context, commit plumbing.OID) error {
	names, err := r.promisors(ctx)
	if err != nil || len(names) == 0 {
		return err
	}
	if sparse, err := r.Settings().All(ctx, "core.sparseCheckout"); err != nil || network.Last(sparse) == "true" {
		return err
	}
	for _, name := range names {
		if err = r.promisedBy(ctx, name, commit); err == nil {
			break
		}
	}
	return err
}

// promisedAll is promised for commits that are compared. Ids that are zero are left out.
func (r *Repo) promisedAll(ctx context.Context, commits ...plumbing.OID) error {
	for _, commit := range commits {
		if commit.IsZero() {
			continue
		}
		if err := checkOIDs(commit); err != nil {
			return err
		}
		if err := r.promised(ctx, commit); err != nil {
			return err
		}
	}
	return nil
}

// promisedBy fetches the missing objects of a commit from one promisor remote.
func (r *Repo) promisedBy(ctx context.Context, from string, commit plumbing.OID) error {
	m, err := r.Remote(ctx, from)
	if err != nil {
		return err
	}
	asked := map[string]bool{}
	for {
		lacks, err := r.lacks(ctx, commit)
		if err != nil || len(lacks) == 0 {
			return err
		}
		var wants bytes.Buffer
		for _, oid := range lacks {
			if asked[oid] {
				return fmt.Errorf("commit %s: %s has promised %s, and does not bring it", commit.Short(), from, oid)
			}
			asked[oid] = true
			fmt.Fprintln(&wants, oid)
		}
		fetch := slices.Concat(noUpkeep, []string{"-c", "fetch.negotiationAlgorithm=noop", "-c", "fetch.writeCommitGraph=false", "fetch", "--no-write-fetch-head", "--no-auto-maintenance",
			"--no-tags", "--filter=blob:none", "--no-recurse-submodules", "--progress", "--stdin", "--", from})
		if _, err := m.talk(ctx, "fetch", fetch, wants.Bytes()); err != nil {
			return err
		}
	}
}

// lacks lists the missing objects of a commit. The contents of a missing directory are not listed
// until that directory is present.
func (r *Repo) lacks(ctx context.Context, commit plumbing.OID) ([]string, error) {
	out, err := r.command("rev-list", "rev-list", "--objects", "--missing=print", "--no-walk", "--no-object-names", string(commit), "--").Output(ctx)
	if err != nil {
		return nil, fmt.Errorf("commit %s: %w", commit.Short(), err)
	}
	var lacks []string
	for _, line := range child.Lines(out) {
		if oid, missing := strings.CutPrefix(line, "?"); missing {
			lacks = append(lacks, oid)
		}
	}
	return lacks, nil
}
