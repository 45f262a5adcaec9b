package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/setup"
)

var _ = add(func() *call.Command {
	var r setup.Request
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
			f.StringVar(&r.Spec, "spec", "", "the goal's specification, a `FILE` of the project (default specs/vision.md, if there)")
			f.StringVar(&r.Integration, "integration-branch", setup.UsualIntegration, "where approved work lands")
			f.StringVar(&r.Sign, "sign", "", "sign a new board from its first commit on, with the key in `FILE`; later commands find it in liza.signingkey")
			f.BoolVar(&r.Alone, "alone", false, "begin a board without asking the remotes for one, or make the copy that came with a clone a board of its own")
			f.BoolVar(&r.Unattended, "unattended", false, "nobody reviews the plan: what a planner finalizes is open to coders")
			f.BoolVar(&r.Agents, "agents", false, "add a section about git liza to AGENTS.md, which CLAUDE.md and GEMINI.md include")
		},
		Example: `git liza init "Sell furniture online" --spec specs/vision.md`,
		Run: func(ctx context.Context, c *call.Call) error {
			r.Goal = call.First(c.Args)
			return setup.Init(ctx, c, r)
		},
	}
})
