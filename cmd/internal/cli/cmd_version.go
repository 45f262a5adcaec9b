package cli

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

var _ = add(versionCommand)

func versionCommand() *edge.Command {
	return &edge.Command{
		Name: "version", Group: "setting up", Max: 0, Anywhere: true,
		Short:   "print the versions of git-liza, the board's format and git",
		Example: `git liza version`,
		Run: func(ctx context.Context, c *edge.Call) error {
			_, _, git, err := gitio.Version(ctx)
			if err != nil {
				return err
			}
			build := ""
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						build = s.Value
					}
				}
			}
			if c.JSON {
				return c.PrintJSON(map[string]any{"version": edge.Version, "format": board.Format, "git": git, "revision": build})
			}
			return c.Say(fmt.Sprintf("git-liza %s, board format %d, git %s", edge.Version, board.Format, git))
		},
	}
}
