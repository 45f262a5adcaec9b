package setup

import (
	"cmp"
	"context"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/signing"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// UsualIntegration is the branch where approved work lands, unless a user names another.
const UsualIntegration = "integration"

// Request asks for a board in a clone.
type Request struct {
	Goal        string // of a new board, "" for none
	Spec        string // the goal's specification, "" for the usual one, if there is one
	Integration string // the branch where approved work lands
	Sign        string // the key that signs a new board, "" for none
	Alone       bool   // ask no remote, and make a copy a board of its own
	Agents      bool   // add our section to AGENTS.md
	Unattended  bool   // nobody reviews the plan
}

// Init joins the board of a remote, or begins one for a goal, and reports it.
func Init(ctx context.Context, c *call.Call, r Request) error {
	if r.Sign != "" {
		var err error
		if c.Signer, err = signing.LoadKey(ctx, c, r.Sign); err != nil {
			return err
		}
	}
	if r.Agents && r.Goal == "" {
		return AddAgentsSection(ctx, c)
	}
	done, err := Join(ctx, c, r.Alone)
	if err == nil && done && r.Sign != "" {
		err = KeepSigningKey(ctx, c, r.Sign)
	}
	if done || err != nil {
		return err
	}
	if r.Goal != "" {
		p := &board.Init{Goal: r.Goal, SpecRef: r.Spec, IntegrationBranch: r.Integration, PlanReview: roles.HumanID}
		if r.Unattended {
			p.PlanReview = ""
		}
		return Begin(ctx, c, p, r.Sign, r.Agents)
	}
	tip, err := c.Board.Repo().Ref(ctx, plumbing.BoardRef)
	switch {
	case err != nil:
		return err
	case tip.IsZero():
		return call.Usage(c.Cmd, "there is no board to join, and a new board needs a goal")
	case r.Alone:
		own, err := c.Board.Sharing().Own(ctx)
		if own || err != nil {
			return cmp.Or(err, c.Answer(map[string]any{"own": true, "commit": tip}, "this clone's copy of a board is a board of its own now"))
		}
	}
	if err := JoinedHalf(ctx, c); err != nil {
		return err
	}
	return board.Refuse(board.CodeExists, "this repository has a board already", "git liza status shows it")
}
