package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// Version is the program's version; a release build sets it.
var Version = "0.1.0"

func versionCommand() *command {
	return &command{
		name: "version", group: "setting up", max: 0,
		short: "print the versions of git-liza, the board's format and git",
		run: func(c *call) error {
			_, _, git, err := gitio.Version(c.ctx)
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
			if c.json {
				return c.printJSON(map[string]any{"version": Version, "format": board.Format, "git": git, "revision": build})
			}
			return c.say(fmt.Sprintf("git-liza %s, board format %d, git %s", Version, board.Format, git))
		},
	}
}
