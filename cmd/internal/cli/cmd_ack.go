package cli

import "github.com/git-liza/git-liza/gitboard/board"

func ackCommand() *command {
	return &command{
		name: "ack", group: "planner", args: "ID...", min: 1, max: -1, writes: true,
		short: "mark notes and anomalies as dealt with",
		run:   func(c *call) error { return c.just(&board.Ack{IDs: c.args}) },
	}
}
