package cli

import (
	"cmp"
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/setup"
	"github.com/git-liza/git-liza/cmd/internal/signing"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
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
agents to AGENTS.md, which CLAUDE.md and GEMINI.md include; without a goal it does only that.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&spec, "spec", "", "the goal's specification, a `FILE` of the project (default specs/vision.md, if there)")
			f.StringVar(&integration, "integration-branch", "integration", "where approved work lands")
			f.StringVar(&sign, "sign", "", "sign a new board from its first commit on, with the key in `FILE`; later commands find it in liza.signingkey")
			f.BoolVar(&alone, "alone", false, "begin a board without asking the remotes for one, or make the copy that came with a clone a board of its own")
			f.BoolVar(&unattended, "unattended", false, "nobody reviews the plan: what a planner finalizes is open to coders")
			f.BoolVar(&agents, "agents", false, "add a section about git liza to AGENTS.md, which CLAUDE.md and GEMINI.md include")
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
				return setup.AddAgentsSection(ctx, c)
			}
			done, err := setup.Join(ctx, c, alone)
			if err == nil && done && sign != "" {
				err = setup.KeepSigningKey(ctx, c, sign)
			}
			if done || err != nil {
				return err
			}
			planReview := roles.HumanID
			if unattended {
				planReview = ""
			}
			if len(c.Args) > 0 {
				return setup.Begin(ctx, c, &board.Init{Goal: c.Args[0], SpecRef: spec, IntegrationBranch: integration, PlanReview: planReview}, sign, agents)
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
				if err := setup.JoinedHalf(ctx, c); err != nil {
					return err
				}
				return board.Refuse(board.CodeExists, "this repository has a board already", "git liza status shows it")
			}
			return call.Usage(c.Cmd, "there is no board to join, and a new board needs a goal")
		},
	}
}
