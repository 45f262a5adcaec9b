package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/hooks/install"
)

var _ = add(envCommand)

func envCommand() *edge.Command {
	return &edge.Command{
		Name: "env", Group: "setting up", Args: "AGENT", Min: 1, Max: 1,
		Short: "print the environment of an agent, for eval",
		Long: `eval "$(git liza env coder-1)" makes the commands of this shell act as coder-1, in the session kept here, and
git run the hooks that agents have (git liza hooks status).`,
		Example: `git liza env coder-1`,
		Run: func(ctx context.Context, c *edge.Call) error {
			id := c.Args[0]
			b := c.Board
			if _, err := b.RoleOf(ctx, id); err != nil {
				return err
			}
			session, err := b.KeptSession(id)
			if err != nil {
				return err
			}
			settings, on := install.Environ(b.Repo(), c.App.Getenv(gitio.ParametersVar))
			if c.JSON {
				all := map[string]string{"LIZA_AGENT_ID": id, "LIZA_SESSION": session}
				if on {
					all[gitio.ParametersVar] = settings
				}
				return c.PrintJSON(all)
			}
			lines := []string{"export LIZA_AGENT_ID=" + id}
			if session != "" {
				lines = append(lines, fmt.Sprintf("export LIZA_SESSION=%s", session))
			} else {
				lines = append(lines, "unset LIZA_SESSION")
			}
			if on { // a plain path, for a shell
				lines = append(lines, "export "+gitio.ParametersVar+"="+plain.Quote(settings))
			}
			_, err = io.WriteString(c.App.Stdout, strings.Join(lines, "\n")+"\n")
			return err
		},
	}
}
