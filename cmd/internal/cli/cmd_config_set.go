package cli

import "github.com/git-liza/git-liza/gitboard/board"

func configSetCommand() *command {
	return &command{
		name: "config set", group: "human", args: "KEY VALUE", min: 2, max: 2, writes: true,
		short: "change a setting of the board",
		run:   func(c *call) error { return c.just(&board.SetConfig{Key: c.args[0], Value: c.args[1]}) },
	}
}
