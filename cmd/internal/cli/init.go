package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/definition"
	"github.com/git-liza/git-liza/cmd/internal/setup"
	"github.com/git-liza/git-liza/cmd/internal/signing"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

var _ = add(initCommand)

func initCommand() *call.Command {
	var spec, integration, sign string
	var alone, agents, unattended bool
	return &call.Command{
		Name: "init", Group: "setting up", Args: `["GOAL"]`, Max: 1, Writes: true,
		Short: "begin a board for a goal in this repository",
		Long: `The board is the branch liza/state; it is never checked out. The integration branch, where approved
work lands, is made when it is not there: from origin's, else from the default branch. The directory .liza is made for the files
that stop this clone by hand: touch .liza/PAUSE. Git's hooks are put in place for agents (git liza hooks status).
Nothing else in the repository changes.

A human reviews the plan of a new board: what planners finalize waits for git liza finalize or git liza reject-draft by a
human. --unattended turns that off; git liza team edit changes it later.

Where a remote has a board already, this clone joins it, and no goal is needed. --agents adds a short section for coding
agents to AGENTS.md, and to CLAUDE.md if there is one; without a goal it does only that.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&spec, "spec", "", "the goal's specification, a `FILE` of the project (default specs/vision.md, if there)")
			f.StringVar(&integration, "integration-branch", "integration", "where approved work lands")
			f.StringVar(&sign, "sign", "", "sign a new board from its first commit on, with the key in `FILE`; later commands find it in liza.signingkey")
			f.BoolVar(&alone, "alone", false, "begin a board without asking the remotes for one, or make the copy that came with a clone a board of its own")
			f.BoolVar(&unattended, "unattended", false, "nobody reviews the plan: what a planner finalizes is open to coders")
			f.BoolVar(&agents, "agents", false, "add a section about git liza to AGENTS.md, and to CLAUDE.md if there is one")
		},
		Example: `git liza init "Sell furniture online" --spec specs/vision.md`,
		Run: func(ctx context.Context, c *call.Call) error {
			if sign != "" {
				var err error
				if c.Signer, err = signing.LoadKey(ctx, c, sign); err != nil {
					return err
				}
			}
			if agents && len(c.Args) == 0 {
				return addAgentsSection(ctx, c)
			}
			done, err := setup.Join(ctx, c, alone)
			if err == nil && done && sign != "" {
				err = keepSigningKey(ctx, c, sign)
			}
			if done || err != nil {
				return err
			}
			planReview := roles.HumanID
			if unattended {
				planReview = ""
			}
			if len(c.Args) > 0 {
				return runInit(ctx, c, &board.Init{Goal: c.Args[0], SpecRef: spec, IntegrationBranch: integration, PlanReview: planReview}, sign, agents)
			}
			tip, err := c.Board.Repo().Ref(ctx, plumbing.BoardRef)
			switch {
			case err != nil:
				return err
			case !tip.IsZero() && alone:
				own, err := c.Board.Sharing().Own(ctx)
				if own || err != nil {
					return cmp.Or(err, c.Answer(map[string]any{"own": true, "commit": tip}, "this clone's copy of a board is a board of its own now"))
				}
				fallthrough
			case !tip.IsZero():
				if err := joinedHalf(ctx, c); err != nil {
					return err
				}
				return board.Refuse(board.CodeExists, "this repository has a board already", "git liza status shows it")
			}
			return call.Usage(c.Cmd, "there is no board to join, and a new board needs a goal")
		},
	}
}

// joinedHalf refuses a board that came from a remote, with which this clone does not share it: a
// copy, or the remains of an interrupted join.
func joinedHalf(ctx context.Context, c *call.Call) error {
	repo := c.Board.Repo()
	home, err := repo.Ref(ctx, plumbing.HomeRef)
	if err != nil || !home.IsZero() || c.Board.Remote() != "" {
		return err
	}
	remotes, err := repo.Settings().Remotes(ctx)
	if err != nil || len(remotes) == 0 {
		return err
	}
	return board.Refuse(board.CodeElsewhere, "the board here came from another repository, and this clone does not share it",
		"git liza share "+text.Line(remotes[0], 60)+" joins it, where the team shares it; git liza init --alone makes the copy a board of its own")
}

func runInit(ctx context.Context, c *call.Call, p *board.Init, sign string, agents bool) error {
	b := c.Board
	if err := git.RequireVersion(ctx); err != nil {
		return err
	}
	start, err := setup.StartOf(ctx, b.Repo(), p.IntegrationBranch)
	if err != nil {
		return err
	}
	if p.SpecRef == "" {
		if _, err := b.Repo().History().FileOID(ctx, start.Commit, definition.UsualSpec); err == nil {
			p.SpecRef = definition.UsualSpec
		}
	} else if _, err := b.Repo().History().FileOID(ctx, start.Commit, p.SpecRef); err != nil {
		behind, err := start.Behind(ctx, b.Repo(), p.IntegrationBranch)
		if err != nil {
			return err
		}
		hint := "commit it there first"
		if len(behind) > 0 {
			hint = behind[0] + ", after an init without --spec"
		}
		return board.Refuse(board.CodeGate, fmt.Sprintf("the goal's spec %q is not a file in %s", p.SpecRef, start.Name), hint)
	}
	if c.Signer != nil {
		p.Key = c.Signer.Public()
	}
	var done *gitboard.Done
	hooks, err := setup.Guarded(ctx, c, func() (err error) {
		done, err = c.Do(ctx, "init", func(ctx context.Context, _ *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
			if start, err = setup.StartOf(ctx, b.Repo(), p.IntegrationBranch); err != nil {
				return nil, nil, err // an attempt that failed may have begun the branch
			}
			p.Start = string(start.Commit)
			return p, start.Refs, nil
		})
		return err
	})
	if err != nil {
		return err
	}
	if sign != "" {
		if err := keepSigningKey(ctx, c, sign); err != nil {
			return err
		}
	}
	warnings, err := startWarnings(ctx, c, start, p.IntegrationBranch, p.SpecRef)
	if err != nil {
		return err
	}
	if hooks != "" {
		warnings = append(warnings, hooks)
	}
	review := "plan review: by a human, who finalizes what planners propose; git liza inbox shows it"
	if p.PlanReview == "" {
		review = "plan review: off (--unattended): what a planner finalizes is open to coders"
	}
	lines := []string{
		fmt.Sprintf("integration branch: %s at %s", p.IntegrationBranch, start.Commit.Short()), review,
		"next: git liza add-task --id ID --desc TEXT --spec FILE --done TEXT --scope TEXT",
	}
	if p.SpecRef == "" {
		lines = append(lines, "no spec yet: tasks need one on the integration branch, and specs/vision.md is the usual place")
	}
	fields := map[string]any{"integration_branch": p.IntegrationBranch, "spec": p.SpecRef, "plan_review": cmp.Or(p.PlanReview, board.NoPlanReview)}
	if agents {
		files, line, err := agentsFiles(ctx, b)
		var refused *board.Refusal
		switch {
		case errors.As(err, &refused): // the board has begun
			warnings = append(warnings, refused.Message+"; "+cmdline.Hint(refused.Hint))
		case err != nil:
			return err
		}
		if refused == nil || len(files) > 0 {
			lines = append(lines, line)
		}
		fields["agents_files"] = files
	}
	fields["warnings"] = call.Every(warnings)
	return c.Report(done, fields, append(lines, call.Prefixed("warning: ", warnings)...)...)
}

// startWarnings warns if integration starts where the human may not expect it: on a detached HEAD,
// behind another branch, or at a commit that lacks later edits of the spec. It also warns of a
// branch that keeps tasks from having theirs.
func startWarnings(ctx context.Context, c *call.Call, start *setup.Start, integration, spec string) ([]string, error) {
	repo := c.Board.Repo()
	warnings, err := start.Behind(ctx, repo, integration)
	if err != nil || repo.TopLevel() == "" {
		return warnings, err
	}
	head, branch, err := repo.Worktree(repo.TopLevel()).Head(ctx)
	if err != nil {
		return nil, err
	}
	if branch == "" && head != start.Commit {
		warnings = append(warnings, fmt.Sprintf("HEAD is detached at %s; integration begins at %s, the tip of %s", head.Short(), start.Commit.Short(), start.Name))
	}
	dir := board.UsualTaskBranches.Dir()
	if above, err := repo.Ref(ctx, plumbing.BranchRef(dir)); err != nil {
		return nil, err
	} else if !above.IsZero() {
		warnings = append(warnings, fmt.Sprintf("there is a branch %s, and tasks have branches below it; before the first claim rename it, or choose another prefix: git liza config set %s agents/", dir, board.KeyTaskBranches))
	}
	if spec == "" {
		spec = definition.UsualSpec
	}
	entries, err := repo.Worktree(repo.TopLevel()).Status(ctx)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(entries, func(e git.StatusEntry) bool { return e.Path == spec }) {
		warnings = append(warnings, fmt.Sprintf("%s has uncommitted changes, which agents do not see: commit them, then git liza land --spec %s", spec, spec))
	}
	return warnings, nil
}

// addAgentsSection is init --agents without a goal.
func addAgentsSection(ctx context.Context, c *call.Call) error {
	if _, err := c.Actor(ctx, "init"); err != nil {
		return err
	}
	files, line, err := agentsFiles(ctx, c.Board)
	if err != nil {
		return err
	}
	return c.Answer(map[string]any{"agents_files": files}, line)
}

// agentsFiles writes the files that coding agents read on start, for the human to commit, and
// reports it.
func agentsFiles(ctx context.Context, b *gitboard.Board) (files []string, line string, err error) {
	root, err := b.Root(ctx)
	if err != nil {
		return nil, "", err
	}
	if root == "" {
		return nil, "", board.Refuse(board.CodeInvalid, "a bare repository has no AGENTS.md", "git liza init --agents in a clone with a worktree")
	}
	files, err = setup.WriteAgentsFiles(root)
	line = "the section about git liza is up to date in AGENTS.md"
	if len(files) > 0 {
		line = "wrote a section about git liza into " + strings.Join(files, " and ") + ": commit it, then git liza land COMMIT"
	}
	return files, line, err
}

// keepSigningKey sets the key that this clone signs with.
func keepSigningKey(ctx context.Context, c *call.Call, where string) error {
	where, err := signing.KeyFromAnywhere(c, where)
	if err != nil {
		return err
	}
	return c.Board.Repo().Settings().Set(ctx, "liza.signingkey", where)
}
