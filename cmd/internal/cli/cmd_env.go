package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/hooks/install"
	"github.com/git-liza/git-liza/roles"
)

func envCommand() *command {
	return &command{
		name: "env", group: "setting up", args: "AGENT", min: 1, max: 1,
		short: "print the environment of an agent, for eval",
		long: `eval "$(git liza env coder-1)" makes the commands of this shell act as coder-1, in the session kept here, and
git run the hooks that agents have (git liza hooks status).`,
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
			settings := install.Environ(b.Repo(), c.app.Getenv)
			if c.json {
				all := map[string]string{"LIZA_AGENT_ID": id, "LIZA_SESSION": session}
				for _, s := range settings {
					all[s.Key] = s.Value
				}
				return c.printJSON(all)
			}
			lines := []string{"export LIZA_AGENT_ID=" + id}
			if session != "" {
				lines = append(lines, fmt.Sprintf("export LIZA_SESSION=%s", session))
			} else {
				lines = append(lines, "unset LIZA_SESSION")
			}
			for _, s := range settings { // a path as it is, for a shell
				lines = append(lines, "export "+s.Key+"="+shellWord(s.Value))
			}
			_, err = io.WriteString(c.app.Stdout, strings.Join(lines, "\n")+"\n")
			return err
		},
	}
}

// shellWord makes a word of the shell.
func shellWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
