package cli

import (
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/sshsig"
)

func keysAddCommand() *command {
	p := board.KeysAdd{}
	return &command{
		name: "keys add", group: "setting up", args: "AGENT|EMAIL PUBKEY", min: 2, max: 2, writes: true,
		short: "make a public key known as that of an agent or a human",
		long: `PUBKEY is a .pub file, or the key itself: ssh-ed25519 AAAA... A human is known by the e-mail address that git has.
Keys count once signatures are required: git liza config set require_signatures true`,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&p.Replaces, "replace", false, "revoke the other keys of the same name with it")
		},
		run: func(c *call) error {
			p.Principal = c.args[0]
			if strings.Contains(p.Principal, "@") {
				p.Principal = strings.ToLower(p.Principal)
			}
			var err error
			if p.Public, err = c.publicKey(c.args[1]); err != nil {
				return err
			}
			return c.just(&p)
		},
	}
}

// publicKey is a public key that is named by a file, or stands there itself.
func (c *call) publicKey(where string) (string, error) {
	line := where
	if !strings.Contains(where, " ") {
		data, err := os.ReadFile(c.keyFile(where))
		if err != nil {
			return "", board.Refuse("invalid", "the public key "+board.Line(where, 200)+" can't be read: "+reasonOf(err), "name its .pub file")
		}
		line = string(data)
	}
	if strings.Contains(line, "PRIVATE KEY") {
		return "", board.Refuse("invalid", board.Line(where, 200)+" is a private key, which nobody else should see", "name the public one: "+board.Line(where, 200)+".pub")
	}
	public, err := sshsig.ParsePublic(line)
	if err != nil {
		return "", board.Refuse("invalid", board.Line(where, 80)+": "+err.Error(), "a .pub file as ssh-keygen -t ed25519 makes it")
	}
	return public, nil
}
