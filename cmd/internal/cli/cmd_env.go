package cli

import (
	"fmt"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/roles"
)

func envCommand() *command {
	return &command{
		name: "env", group: "setting up", args: "AGENT", min: 1, max: 1,
		short: "print the environment of an agent, for eval",
		long:  `eval "$(git liza env coder-1)" makes the commands of this shell act as coder-1, in the session kept here.`,
		run: func(c *call) error {
			id := c.args[0]
			if _, err := roles.Of(id); err != nil {
				return board.Refuse("invalid", err.Error(), "git liza env coder-1")
			}
			b, err := c.board()
			if err != nil {
				return err
			}
			session, err := b.KeptSession(id)
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(map[string]string{"LIZA_AGENT_ID": id, "LIZA_SESSION": session})
			}
			lines := []string{"export LIZA_AGENT_ID=" + id}
			if session != "" {
				lines = append(lines, fmt.Sprintf("export LIZA_SESSION=%s", session))
			} else {
				lines = append(lines, "unset LIZA_SESSION")
			}
			return c.say(lines...)
		},
	}
}
