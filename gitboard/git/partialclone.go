package git

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/settings"
)

// promised fetches the files of a commit that a partial clone has left out. Git would fetch them on
// demand, with a child that may wait forever; this one has the timeout of every other network
// command. A sparse checkout needs few files, and only git knows which, so it is left to git. If
// several remotes are promisors, they are asked in turn until one succeeds.
//
// Errors: a NetworkError, or another error if a remote does not deliver what it promised.
func (r *Repo) promised(ctx context.Context, commit plumbing.OID) error {
	if !settings.ReadOwn(r.common).MayLack() {
		return nil
	}
	out, err := r.command("config", "config", "--null", "--type=bool", "--get-regexp", `^(remote\..*\.promisor|core\.sparsecheckout)$`).Output(ctx)
	if err != nil {
		return nil // no such setting
	}
	var names []string
	is := map[string]bool{}
	for _, entry := range child.Fields(out) {
		key, value, _ := strings.Cut(entry, "\n")
		name := strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".promisor")
		if _, known := is[name]; !known {
			names = append(names, name)
		}
		is[name] = value == "true"
	}
	if is[sparse] {
		return nil
	}
	var failed error
	for _, name := range names {
		if !is[name] {
			continue // it promises nothing, or is the setting of a full checkout
		}
		if failed = r.promisedBy(ctx, name, commit); failed == nil {
			break
		}
	}
	return failed
}

const sparse = "core.sparsecheckout"

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
