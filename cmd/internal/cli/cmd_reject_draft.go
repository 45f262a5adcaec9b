package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/definition"
	"github.com/git-liza/git-liza/cmd/internal/edge"
)

var _ = add(rejectDraftCommand)

func rejectDraftCommand() *edge.Command {
	var reason string
	return &edge.Command{
		Name: "reject-draft", Group: "planner", Args: "ID...", Min: 1, Max: -1, Writes: true,
		Short: "send drafts that wait for the review of the plan back to their planner",
		Long: `For agents that review plans (plan_review of git liza team show), and for humans. The planner is woken and told the reason,
changes the draft, and proposes it again. git liza finalize is the approval.`,
		Example: `git liza reject-draft login users --reason "login and users rewrite the same files: cut along the forms"`,
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "the required change and its reason") },
		Run:     func(ctx context.Context, c *edge.Call) error { return definition.RejectDrafts(ctx, c, c.Args, reason) },
	}
}
