package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/oplog"
)

func initCommand() *command {
	var spec, integration, sign string
	var alone bool
	return &command{
		name: "init", group: "setting up", args: `["GOAL"]`, max: 1, writes: true,
		short: "begin a board for a goal in this repository",
		long: `The board is the branch liza/state; it is never checked out. The integration branch, where approved
work lands, is made when it is not there: from origin's, else from the default branch. The directory .liza is made for the files
that stop this clone by hand: touch .liza/PAUSE. Git's hooks are put in place for agents (git liza hooks status).
Nothing else in the repository changes.

Where a remote has a board already, this clone joins it, and no goal is needed.`,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&spec, "spec", "", "the goal's specification, a `FILE` of the project (default specs/vision.md, if there)")
			f.StringVar(&integration, "integration-branch", "integration", "where approved work lands")
			f.StringVar(&sign, "sign", "", "sign a new board from its first commit on, with the key in `FILE`; later commands find it in liza.signingkey")
			f.BoolVar(&alone, "alone", false, "begin a board without asking the remotes for one")
		},
		run: func(c *call) error {
			if sign != "" {
				var err error
				if c.signer, err = c.loadKey(sign); err != nil {
					return err
				}
			}
			done, err := c.join(alone)
			if err == nil && done && sign != "" {
				err = c.keepSigningKey(sign)
			}
			if done || err != nil {
				return err
			}
			if len(c.args) > 0 {
				return c.runInit(c.args[0], spec, integration, sign)
			}
			tip, err := c.opened.Repo().Ref(c.ctx, oplog.Ref)
			switch {
			case err != nil:
				return err
			case !tip.IsZero():
				return board.Refuse("exists", "this repository has a board already", "git liza status shows it")
			}
			return usage(c.cmd, "there is no board to join here, and a new one needs a goal")
		},
	}
}

func (c *call) runInit(goal, spec, integration, sign string) error {
	b, err := c.board()
	if err != nil {
		return err
	}
	if err := gitio.RequireVersion(c.ctx); err != nil {
		return err
	}
	start, err := startOf(c.ctx, b.Repo(), integration)
	if err != nil {
		return err
	}
	if spec == "" {
		if _, err := b.Repo().FileOID(c.ctx, start.commit, "specs/vision.md"); err == nil {
			spec = "specs/vision.md"
		}
	} else if _, err := b.Repo().FileOID(c.ctx, start.commit, spec); err != nil {
		return board.Refuse("gate", fmt.Sprintf("the goal's spec %q is not a file in %s", spec, start.name), "commit it there first")
	}
	public := ""
	if c.signer != nil {
		public = c.signer.Public()
	}
	done, err := c.do("init", func(context.Context, *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
		return &board.Init{Goal: goal, SpecRef: spec, IntegrationBranch: integration, Key: public}, start.refs, nil
	})
	if err != nil {
		return err
	}
	if err := c.makeStopDir(b); err != nil {
		return err
	}
	if sign != "" {
		if err := c.keepSigningKey(sign); err != nil {
			return err
		}
	}
	warning := c.installHooks(b)
	lines := []string{
		fmt.Sprintf("integration branch: %s at %s", integration, start.commit.Short()),
		"next: git liza add-task --id ID --desc TEXT --spec FILE --done TEXT --scope TEXT",
	}
	if spec == "" {
		lines = append(lines, "no spec yet: tasks need one on the integration branch, and specs/vision.md is the usual place")
	}
	if warning != "" {
		lines = append(lines, "warning: "+warning)
	}
	return c.report(done, map[string]any{"integration_branch": integration, "spec": spec}, lines...)
}

// keepSigningKey makes a key the one that this clone signs with.
func (c *call) keepSigningKey(where string) error {
	where, err := c.keyFromAnywhere(where)
	if err != nil {
		return err
	}
	return c.opened.Repo().SetConfig(c.ctx, "liza.signingkey", where)
}

// makeStopDir makes the place of the files that stop this clone, so that a touch is all it takes. Nothing of ours
// shows in git status.
func (c *call) makeStopDir(b *gitboard.Board) error {
	if err := b.Repo().Exclude("/.worktrees/", "/.liza/"); err != nil {
		return err
	}
	root, err := b.Root(c.ctx)
	if err != nil || root == "" {
		return err
	}
	return os.MkdirAll(filepath.Join(root, ".liza"), 0o755)
}

// start is where integration begins, or stands already.
type start struct {
	name   string // the branch it's from
	commit gitio.OID
	refs   []gitio.RefUpdate
}

// startOf finds where integration begins, and refuses branches that are in the way before anything is
// written.
func startOf(ctx context.Context, repo *gitio.Repo, integration string) (*start, error) {
	if err := branchName(integration); err != nil {
		return nil, err
	}
	for _, name := range []string{"liza", "task"} {
		if oid, err := repo.Ref(ctx, "refs/heads/"+name); err != nil || !oid.IsZero() {
			return nil, orErr(err, board.Refuse("in-the-way", fmt.Sprintf("a branch is named %s, and the board needs %s/...", name, name), "rename it: git branch -m "+name+" OTHER"))
		}
	}
	if under, err := repo.Refs(ctx, "refs/heads/liza/state/"); err != nil || len(under) > 0 {
		return nil, orErr(err, board.Refuse("in-the-way", "there are branches below liza/state/, and the board is the branch liza/state", "rename them: git branch -m OLD NEW"))
	}
	if under, err := repo.Refs(ctx, "refs/heads/"+integration+"/"); err != nil || len(under) > 0 {
		return nil, orErr(err, board.Refuse("in-the-way", fmt.Sprintf("there are branches below %s/, so none can be named %s", integration, integration), "git liza init GOAL --integration-branch OTHER"))
	}
	ref := "refs/heads/" + integration
	tip, err := repo.Ref(ctx, ref)
	if err != nil {
		return nil, err
	}
	if !tip.IsZero() {
		return &start{name: integration, commit: tip, refs: []gitio.RefUpdate{{Ref: ref, Old: tip, New: tip}}}, nil
	}
	theirs := "origin/" + integration // a clone has what the project has landed so far only there
	if tip, err = repo.Ref(ctx, "refs/remotes/"+theirs); err != nil {
		return nil, err
	}
	if !tip.IsZero() {
		return &start{name: theirs, commit: tip, refs: []gitio.RefUpdate{{Ref: ref, Old: gitio.ZeroOID, New: tip}}}, nil
	}
	from, err := repo.DefaultBranch(ctx)
	if errors.Is(err, gitio.ErrNotFound) {
		return nil, board.Refuse("no-commit", "this repository has no commit on a branch yet, so integration can't begin anywhere", "make a first commit, then git liza init")
	}
	if err != nil {
		return nil, err
	}
	commit, err := repo.ResolveCommit(ctx, from)
	if err != nil {
		return nil, err
	}
	return &start{name: from, commit: commit, refs: []gitio.RefUpdate{{Ref: ref, Old: gitio.ZeroOID, New: commit}}}, nil
}

func orErr(err error, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

func branchName(name string) error {
	full := "refs/heads/" + name
	bad := name == "" || full == oplog.Ref || strings.HasPrefix(name, "liza/") || strings.HasPrefix(name, "task/") || name == "liza" || name == "task" ||
		strings.HasPrefix(name, "-") || strings.ContainsAny(name, " ~^:?*[\\\x00\n\t") || strings.Contains(name, "..") || strings.HasSuffix(name, "/") ||
		strings.HasSuffix(name, ".lock") || strings.Contains(name, "//") || strings.HasPrefix(name, "/") || strings.Contains(name, "@{")
	if bad {
		return board.Refuse("invalid", fmt.Sprintf("%q can't be the integration branch", board.Line(name, 60)), "--integration-branch integration")
	}
	return nil
}
