package cli

import (
	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/board"
)

func configGetCommand() *command {
	return &command{
		name: "config get", group: "human", args: "[KEY]", max: 1, reads: true,
		short: "print the board's settings, or one of them",
		run: func(c *call) error {
			v, err := c.view()
			if err != nil {
				return err
			}
			keys := board.ConfigKeys
			if len(c.args) == 1 {
				k, err := board.FindConfigKey(c.args[0])
				if err != nil {
					return err
				}
				keys = []board.ConfigKey{k}
			}
			if c.json {
				n, err := c.part(v, []string{"config"})
				if err != nil {
					return err
				}
				if len(c.args) == 1 {
					value, err := lookup(n, c.args[0], c.args[0])
					if err != nil {
						return err
					}
					n = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: c.args[0]}, value}}
				}
				return c.printNode(n)
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
			case len(c.args) == 1:
				return c.say(keys[0].Value(config))
			}
			return c.say(columns("", rows)...)
		},
	}
}
