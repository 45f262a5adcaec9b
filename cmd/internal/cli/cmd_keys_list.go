package cli

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(keysListCommand)

func keysListCommand() *edge.Command {
	var allowed bool
	return &edge.Command{
		Name: "keys list", Group: "setting up", Max: 0, Reads: true,
		Short: "list the keys on the board, or print them as git's file of allowed signers",
		Long: `git liza keys list --allowed-signers >FILE, then git config gpg.ssh.allowedSignersFile FILE:
git log --show-signature liza/state verifies the board's commits. A revoked key counts there until the time of its revocation;
git liza verify goes by the order on the board.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&allowed, "allowed-signers", false, "print them in the format of OpenSSH")
		},
		Example: `git liza keys list --allowed-signers > allowed_signers`,
		Run: func(ctx context.Context, c *edge.Call) error {
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			rows, lines := [][]string{}, []string{}
			list := []map[string]any{}
			for _, id := range v.State.List(board.KeyDir) {
				k := v.State.Key(id)
				if k == nil {
					continue
				}
				list = append(list, map[string]any{
					"fingerprint": board.Fingerprint(id), "principal": k.Principal, "public": k.Public, "added": k.Added, "revoked": k.Revoked, "reason": k.Reason,
				})
				state := "added " + string(k.Added)
				if k.Revoked != "" {
					state = "revoked " + string(k.Revoked)
				}
				rows = append(rows, []string{k.Principal, board.Fingerprint(id), k.Kind(), state, k.Reason})
				lines = append(lines, allowedSigner(k))
			}
			if err := v.State.Err(); err != nil {
				return err
			}
			switch {
			case c.JSON:
				return c.PrintJSON(map[string]any{"required": board.RequiresSignatures(v.State), "keys": list})
			case len(rows) == 0 && allowed:
				return nil
			case len(rows) == 0:
				return c.Say("no keys are on the board: git liza keys add AGENT|EMAIL PUBKEY")
			case allowed:
				return c.Say(lines...)
			}
			return c.Say(edge.Columns("", rows)...)
		},
	}
}

// allowedSigner is a line of an allowed signers file.
func allowedSigner(k *board.Key) string {
	who := k.Principal
	if k.Agents() {
		who += "@liza"
	}
	until := ""
	if k.Revoked != "" {
		until = fmt.Sprintf(`,valid-before="%s"`, k.Revoked.Std().UTC().Format("20060102150405Z"))
	}
	return fmt.Sprintf(`%s namespaces="git"%s %s`, who, until, k.Public)
}
