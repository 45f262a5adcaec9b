package cli

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

var _ = add(func() *call.Command {
	var check bool
	return &call.Command{
		Name: "version", Group: "setting up", Max: 0, Anywhere: true,
		Short: "print the versions of git-liza, the board's format and git",
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&check, "check", false, "ask this program's repository for a newer release")
		},
		Example: `git liza version --check`,
		Run: func(ctx context.Context, c *call.Call) error {
			if check {
				return checkVersion(ctx, c)
			}
			_, _, git, err := git.Version(ctx)
			if err != nil {
				return err
			}
			b := call.ThisBuild()
			return call.Tell(c, struct {
				call.Build
				Format int    `json:"format"`
				Git    string `json:"git"`
			}{b, board.Format, git}, fmt.Sprintf("%s, board format %d, git %s", b, board.Format, git))
		},
	}
})

// checkVersion compares this program with the newest release. No other command asks for one.
func checkVersion(ctx context.Context, c *call.Call) error {
	b := call.ThisBuild()
	newest, err := git.NewestRelease(ctx, b.Source)
	if err != nil {
		return err
	}
	answer := struct {
		Version string `json:"version"`
		Newest  string `json:"newest"` // "" if there is no release
		Newer   bool   `json:"newer"`
		Upgrade string `json:"upgrade,omitempty"`
		Source  string `json:"source"`
	}{Version: b.Version, Newest: newest, Newer: plumbing.OlderRelease(b.Version, newest), Source: b.Source}
	line := fmt.Sprintf("git-liza %s; the newest release of %s is %s", b.Version, b.Source, newest)
	switch {
	case newest == "":
		line = fmt.Sprintf("git-liza %s; %s has no release", b.Version, b.Source)
	case answer.Newer:
		answer.Upgrade = call.Upgrade()
		line += "\nupgrade: " + answer.Upgrade
	}
	return call.Tell(c, answer, line)
}
