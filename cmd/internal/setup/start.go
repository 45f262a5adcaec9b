package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// MakeStopDir creates the directory of the files that stop this clone, so that a touch suffices. It
// keeps our files out of git status.
func MakeStopDir(ctx context.Context, b *gitboard.Board) error {
	if err := b.Repo().Settings().Exclude("/"+board.WorktreesDir+"/", "/.liza/"); err != nil {
		return err
	}
	root, err := b.Root(ctx)
	if err != nil || root == "" {
		return err
	}
	return os.MkdirAll(filepath.Join(root, ".liza"), 0o755)
}

// Start is where integration starts, or is already.
type Start struct {
	Name   string // the branch that it starts from
	Commit plumbing.OID
	Refs   []plumbing.RefUpdate
}

// StartOf finds where integration starts, and refuses conflicting branches before anything is
// written.
func StartOf(ctx context.Context, repo *git.Repo, integration string) (*Start, error) {
	if err := board.CheckIntegration(integration); err != nil {
		return nil, err
	}
	if oid, err := repo.Ref(ctx, plumbing.BranchRef("liza")); err != nil || !oid.IsZero() {
		return nil, orErr(err, board.Refuse(board.CodeInTheWay, "a branch is named liza, and the board needs liza/...", "rename it: git branch -m liza OTHER"))
	}
	if under, err := repo.Refs(ctx, plumbing.BoardRef+"/"); err != nil || len(under) > 0 {
		return nil, orErr(err, board.Refuse(board.CodeInTheWay, "there are branches below liza/state/, and the board is the branch liza/state", "rename them: git branch -m OLD NEW"))
	}
	if under, err := repo.Refs(ctx, plumbing.BranchRef(integration)+"/"); err != nil || len(under) > 0 {
		return nil, orErr(err, board.Refuse(board.CodeInTheWay, fmt.Sprintf("there are branches below %s/, so no branch can be named %s", integration, integration), "git liza init GOAL --integration-branch OTHER"))
	}
	ref := plumbing.BranchRef(integration)
	tip, err := repo.Ref(ctx, ref)
	if err != nil {
		return nil, err
	}
	if !tip.IsZero() {
		return &Start{Name: integration, Commit: tip, Refs: []plumbing.RefUpdate{{Ref: ref, Old: tip, New: tip}}}, nil
	}
	theirs := "origin/" + integration // a clone may have the landed work only there
	if tip, err = repo.Ref(ctx, plumbing.RemotesPrefix+theirs); err != nil {
		return nil, err
	}
	if !tip.IsZero() {
		return &Start{Name: theirs, Commit: tip, Refs: []plumbing.RefUpdate{{Ref: ref, Old: plumbing.ZeroOID, New: tip}}}, nil
	}
	from, err := repo.History().DefaultBranch(ctx)
	if errors.Is(err, git.ErrNotFound) {
		if _, err := repo.ResolveCommit(ctx, "HEAD"); err == nil {
			return nil, board.Refuse(board.CodeNoCommit, "HEAD is detached, and without a branch main or master integration can't begin anywhere", "git switch -c main, or another branch, then git liza init")
		}
		return nil, board.Refuse(board.CodeNoCommit, "this repository has no commit on a branch yet, so integration can't begin anywhere", "make a first commit, then git liza init")
	}
	if err != nil {
		return nil, err
	}
	commit, err := repo.Ref(ctx, plumbing.BranchRef(from)) // a tag may have the same name
	if err != nil {
		return nil, err
	}
	return &Start{Name: from, Commit: commit, Refs: []plumbing.RefUpdate{{Ref: ref, Old: plumbing.ZeroOID, New: commit}}}, nil
}

// Behind lists the branches whose commits integration lacks where it starts: the default branch, and
// the refs that this branch and integration follow. Each is a sentence with the way to bring them.
func (s *Start) Behind(ctx context.Context, repo *git.Repo, integration string) (warnings []string, err error) {
	branches := []string{integration}
	switch from, err := repo.History().DefaultBranch(ctx, integration); {
	case err == nil:
		branches = append(branches, from)
	case !errors.Is(err, git.ErrNotFound):
		return nil, err
	}
	for _, branch := range branches {
		upstream, err := repo.Upstream(ctx, branch)
		if err != nil {
			return nil, err
		}
		for _, ref := range []string{plumbing.BranchRef(branch), upstream} {
			if ref == "" || ref == plumbing.BranchRef(integration) {
				continue
			}
			tip, err := repo.Ref(ctx, ref)
			if err != nil || tip.IsZero() {
				continue // it was never fetched
			}
			n, err := repo.History().CountCommits(ctx, s.Commit, tip)
			if err != nil {
				return nil, err
			}
			if n > 0 {
				name := strings.TrimPrefix(plumbing.BranchName(ref), plumbing.RemotesPrefix)
				warnings = append(warnings, fmt.Sprintf("%s begins %s behind %s; to bring them: git liza land %s", integration, text.Plural(n, "commit"), name, name))
			}
		}
	}
	return warnings, nil
}

func orErr(err error, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// HumanOnly refuses an agent.
func HumanOnly(ctx context.Context, c *call.Call) error {
	_, err := c.WhoActs(ctx, "init") // init is for humans too
	return err
}
