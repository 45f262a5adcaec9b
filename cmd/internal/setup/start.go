package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// MakeStopDir creates the directory of the files that stop this clone, so that a touch suffices. It
// keeps our files out of git status.
func MakeStopDir(ctx context.Context, b *gitboard.Board) error {
	if err := b.Repo().Exclude("/.worktrees/", "/.liza/"); err != nil {
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
	Commit git.OID
	Refs   []git.RefUpdate
}

// StartOf finds where integration starts, and refuses conflicting branches before anything is
// written.
func StartOf(ctx context.Context, repo *gitio.Repo, integration string) (*Start, error) {
	if err := board.CheckIntegration(integration); err != nil {
		return nil, err
	}
	if oid, err := repo.Ref(ctx, git.BranchRef("liza")); err != nil || !oid.IsZero() {
		return nil, orErr(err, board.Refuse(board.CodeInTheWay, "a branch is named liza, and the board needs liza/...", "rename it: git branch -m liza OTHER"))
	}
	if under, err := repo.Refs(ctx, git.BoardRef+"/"); err != nil || len(under) > 0 {
		return nil, orErr(err, board.Refuse(board.CodeInTheWay, "there are branches below liza/state/, and the board is the branch liza/state", "rename them: git branch -m OLD NEW"))
	}
	if under, err := repo.Refs(ctx, git.BranchRef(integration)+"/"); err != nil || len(under) > 0 {
		return nil, orErr(err, board.Refuse(board.CodeInTheWay, fmt.Sprintf("there are branches below %s/, so none can be named %s", integration, integration), "git liza init GOAL --integration-branch OTHER"))
	}
	ref := git.BranchRef(integration)
	tip, err := repo.Ref(ctx, ref)
	if err != nil {
		return nil, err
	}
	if !tip.IsZero() {
		return &Start{Name: integration, Commit: tip, Refs: []git.RefUpdate{{Ref: ref, Old: tip, New: tip}}}, nil
	}
	theirs := "origin/" + integration // a clone may have the landed work only there
	if tip, err = repo.Ref(ctx, git.RemotesPrefix+theirs); err != nil {
		return nil, err
	}
	if !tip.IsZero() {
		return &Start{Name: theirs, Commit: tip, Refs: []git.RefUpdate{{Ref: ref, Old: git.ZeroOID, New: tip}}}, nil
	}
	from, err := repo.DefaultBranch(ctx)
	if errors.Is(err, gitio.ErrNotFound) {
		return nil, board.Refuse(board.CodeNoCommit, "this repository has no commit on a branch yet, so integration can't begin anywhere", "make a first commit, then git liza init")
	}
	if err != nil {
		return nil, err
	}
	commit, err := repo.Ref(ctx, git.BranchRef(from)) // a tag may have the same name
	if err != nil {
		return nil, err
	}
	return &Start{Name: from, Commit: commit, Refs: []git.RefUpdate{{Ref: ref, Old: git.ZeroOID, New: commit}}}, nil
}

func orErr(err error, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// HumanOnly refuses an agent.
func HumanOnly(ctx context.Context, c *edge.Call) error {
	_, err := c.WhoActs(ctx, "init") // init is for humans too
	return err
}
