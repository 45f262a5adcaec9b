package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/signing"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// JoinedHalf refuses a board that came from a remote, with which this clone does not share it: a
// copy, or the remains of an interrupted join.
func JoinedHalf(ctx context.Context, c *call.Call) error {
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

// Shares returns a remote that has a board, as git's usual branches of remotes show it, "" for none.
func Shares(ctx context.Context, c *call.Call) (string, error) {
	remotes, err := c.Board.Repo().Settings().Remotes(ctx)
	for _, name := range remotes {
		at, err := c.Board.Repo().Ref(ctx, plumbing.RemoteRef(name, plumbing.BranchName(plumbing.BoardRef)))
		if err != nil || !at.IsZero() {
			return name, err
		}
	}
	return "", err
}

// Begin begins a board, and reports it.
func Begin(ctx context.Context, c *call.Call, p *board.Init, sign string, agents bool) error {
	b := c.Board
	if err := git.RequireVersion(ctx); err != nil {
		return err
	}
	start, err := StartOf(ctx, b.Repo(), p.IntegrationBranch)
	if err != nil {
		return err
	}
	if p.SpecRef == "" {
		if _, err := b.Repo().History().FileOID(ctx, start.Commit, board.UsualSpec); err == nil {
			p.SpecRef = board.UsualSpec
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
	hooks, err := Guarded(ctx, c, func() (err error) {
		done, err = c.Do(ctx, "init", func(ctx context.Context, _ *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
			if start, err = StartOf(ctx, b.Repo(), p.IntegrationBranch); err != nil {
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
		if err := KeepSigningKey(ctx, c, sign); err != nil {
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
		lines = append(lines, "no spec yet: git liza team, or git liza start, takes the goal's text; a file of your own: commit "+board.UsualSpec+" first")
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
func startWarnings(ctx context.Context, c *call.Call, start *Start, integration, spec string) ([]string, error) {
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
		spec = board.UsualSpec
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

// AddAgentsSection is init --agents without a goal.
func AddAgentsSection(ctx context.Context, c *call.Call) error {
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
	files, err = WriteAgentsFiles(root)
	line = "the section about git liza is up to date in AGENTS.md"
	if len(files) > 0 {
		line = "wrote a section about git liza into " + strings.Join(files, ", ") + ": commit it, then git liza land COMMIT"
	}
	return files, line, err
}

// KeepSigningKey sets the key that this clone signs with.
func KeepSigningKey(ctx context.Context, c *call.Call, where string) error {
	where, err := signing.KeyFromAnywhere(c, where)
	if err != nil {
		return err
	}
	return c.Board.Repo().Settings().Set(ctx, "liza.signingkey", where)
}
