package cli

import "github.com/git-liza/git-liza/worktrees"

func sweepCommand() *command {
	return &command{
		name: "sweep", group: "supervision", max: 0,
		short: "release every claim whose lease has run out; work is kept",
		run: func(c *call) error {
			actor, err := c.actor("release")
			if err != nil {
				return err
			}
			swept, err := worktrees.Sweep(c.ctx, c.opened, actor)
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(map[string]any{"ok": true, "swept": every(swept)})
			}
			if len(swept) == 0 {
				return c.say("no claim has an expired lease")
			}
			for _, s := range swept {
				if err := c.say(s.String()); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
