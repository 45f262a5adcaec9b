package cli

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/signing"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/gitboard/sshsig"
)

var _ = add(keysAddCommand)

func keysAddCommand() *edge.Command {
	p := board.KeysAdd{}
	return &edge.Command{
		Name: "keys add", Group: "setting up", Args: "AGENT|EMAIL PUBKEY", Min: 2, Max: 2, Writes: true,
		Short: "register a public key for an agent or a human",
		Long: `PUBKEY is a .pub file, or the key itself: ssh-ed25519 AAAA... A human is known by the e-mail address that git has.
Keys count once signatures are required: git liza config set require_signatures true`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&p.Replaces, "replace", false, "revoke the other keys of the same name with it")
		},
		Example: `git liza keys add coder-1 ~/.ssh/coder-1.pub`,
		Run: func(ctx context.Context, c *edge.Call) error {
			p.Principal = c.Args[0]
			if strings.Contains(p.Principal, "@") {
				p.Principal = strings.ToLower(p.Principal)
			}
			var err error
			if p.Public, err = publicKey(c, c.Args[1]); err != nil {
				return err
			}
			return c.Just(ctx, &p)
		},
	}
}

// publicKey is a public key, given directly or as the name of a file.
func publicKey(c *edge.Call, where string) (string, error) {
	line := where
	if _, err := sshsig.ParsePublic(where); err != nil && !strings.Contains(where, "PRIVATE KEY") {
		data, err := os.ReadFile(signing.KeyFile(c, where))
		if err != nil {
			return "", board.Refuse(board.CodeInvalid, "the public key "+plain.Line(where, 200)+" can't be read: "+signing.ReasonOf(err), "name its .pub file")
		}
		line = string(data)
	}
	if strings.Contains(line, "PRIVATE KEY") {
		return "", board.Refuse(board.CodeInvalid, plain.Line(where, 200)+" is a private key, which nobody else should see", "name the public one: "+plain.Line(where, 200)+".pub")
	}
	public, err := sshsig.ParsePublic(line)
	if err != nil {
		return "", board.Refuse(board.CodeInvalid, plain.Line(where, 80)+": "+err.Error(), "a .pub file as ssh-keygen -t ed25519 makes it")
	}
	return public, nil
}
