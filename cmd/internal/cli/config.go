package cli

import (
	"context"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "config get", Group: "human", Args: "[KEY]", Max: 1, Reads: true,
		Short:   "print the board's settings, or one of them",
		Example: `git liza config get integration_test`,
		Run: viewing(func(ctx context.Context, c *call.Call, v *gitboard.View) error {
			keys := board.ConfigKeys
			if len(c.Args) == 1 {
				k, err := board.FindConfigKey(c.Args[0])
				if err != nil {
					return err
				}
				keys = []board.ConfigKey{k}
			}
			if c.JSON {
				n, err := records.Part(ctx, c, v, []string{"config"})
				if err != nil {
					return err
				}
				if len(c.Args) == 1 {
					value, err := records.Lookup(n, c.Args[0], c.Args[0])
					if err != nil {
						return err
					}
					n = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: c.Args[0]}, value}}
				}
				return records.PrintNode(c, n)
			}
			config := v.State.Config()
			if err := v.State.Err(); err != nil {
				return err
			}
			var rows [][]string
			for _, k := range keys {
				rows = append(rows, []string{k.Name, k.Value(config)})
			}
			switch {
			case len(c.Args) == 1:
				return c.Say(keys[0].Value(config))
			}
			return c.Say(call.Columns("", rows)...)
		}),
	}
})

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "config set", Group: "human", Args: "KEY VALUE", Min: 2, Max: 2, Writes: true,
		Short:   "change a setting of the board",
		Example: `git liza config set integration_test "go test ./..."`,
		Run: func(ctx context.Context, c *call.Call) error {
			r, err := c.Doing(ctx, &board.SetConfig{Key: c.Args[0], Value: c.Args[1]})
			if k, _ := board.FindConfigKey(c.Args[0]); err == nil && k.Takes == "command" && c.Args[1] != board.NoTest {
				if word := worktrees.Unknown(ctx, c.Args[1]); word != "" {
					r.Lines = append(r.Lines, "warning: there is no command "+word+" on this machine")
				}
			}
			return c.Show(r, err)
		},
	}
})
