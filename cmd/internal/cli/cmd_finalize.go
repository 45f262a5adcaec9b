package cli

import (
	"github.com/git-liza/git-liza/cmd/internal/definition"
	"github.com/git-liza/git-liza/cmd/internal/edge"
)

var _ = add(finalizeCommand)

func finalizeCommand() *edge.Command {
	return &edge.Command{
		Name: "finalize", Group: "planner", Args: "ID...", Min: 1, Max: -1, Writes: true,
		Short:   "open DRAFT tasks to coders, once every gate is passed",
		Long:    "Each task is one commit; with several, --request R uses R/1, R/2 and so on, and JSON lists them as operations.",
		Example: `git liza finalize login users`,
		Run:     func(c *edge.Call) error { return definition.Finalize(c, c.Args, nil) },
	}
}
