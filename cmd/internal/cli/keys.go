package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/signing"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/sshsig"
	"github.com/git-liza/git-liza/gitboard/text"
)

var _ = add(func() *call.Command {
	p := board.KeysAdd{}
	return &call.Command{
		Name: "keys add", Group: "setting up", Args: "AGENT|EMAIL PUBKEY", Min: 2, Max: 2, Writes: true,
		Short: "register a public key for an agent or a human",
		Long: `PUBKEY is a .pub file, or the key itself: ssh-ed25519 AAAA... A human is known by the e-mail address that git has.
Keys count once signatures are required: git liza config set require_signatures true`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&p.Replaces, "replace", false, "revoke the other keys of the same name with it")
		},
		Example: `git liza keys add coder-1 ~/.ssh/coder-1.pub`,
		Run: func(ctx context.Context, c *call.Call) error {
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
})

// publicKey is a public key, given directly or as the name of a file.
func publicKey(c *call.Call, where string) (string, error) {
	line := where
	if _, err := sshsig.ParsePublic(where); err != nil && !strings.Contains(where, "PRIVATE KEY") {
		data, err := os.ReadFile(signing.KeyFile(c, where))
		if err != nil {
			return "", board.Refuse(board.CodeInvalid, "the public key "+text.Line(where, 200)+" can't be read: "+signing.ReasonOf(err), "name its .pub file")
		}
		line = string(data)
	}
	if strings.Contains(line, "PRIVATE KEY") {
		return "", board.Refuse(board.CodeInvalid, text.Line(where, 200)+" is a private key, which nobody else should see", "name the public one: "+text.Line(where, 200)+".pub")
	}
	public, err := sshsig.ParsePublic(line)
	if err != nil {
		return "", board.Refuse(board.CodeInvalid, text.Line(where, 80)+": "+err.Error(), "a .pub file as ssh-keygen -t ed25519 makes it")
	}
	return public, nil
}

var _ = add(func() *call.Command {
	var allowed bool
	return &call.Command{
		Name: "keys list", Group: "setting up", Max: 0, Reads: true,
		Short: "list the keys on the board, or print them as git's file of allowed signers",
		Long: `git liza keys list --allowed-signers >FILE, then git config gpg.ssh.allowedSignersFile FILE:
git log --show-signature liza/state verifies the board's commits. A revoked key counts there until the time of its revocation;
git liza verify goes by the order on the board.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&allowed, "allowed-signers", false, "print them in the format of OpenSSH")
		},
		Example: `git liza keys list --allowed-signers > allowed_signers`,
		Run: viewing(func(ctx context.Context, c *call.Call, v *gitboard.View) error {
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
			return c.Say(call.Columns("", rows)...)
		}),
	}
})

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

var _ = add(func() *call.Command {
	var reason string
	return &call.Command{
		Name: "keys revoke", Group: "setting up", Args: "KEY", Min: 1, Max: 1, Writes: true,
		Short: "revoke a key: from now on it signs nothing",
		Long: `KEY is a key's fingerprint (SHA256:...) or the beginning of it, or whose it is, where that is one key alone.
What it has signed before stays valid: the order on the board decides, not dates.`,
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "why") },
		Example: `git liza keys revoke SHA256:yKYm9JeS2c0Bzb0nBHyh1gwcvHl1VGfE9jXkqk4q0dE --reason "the laptop was stolen"`,
		Run: func(ctx context.Context, c *call.Call) error {
			done, err := c.Do(ctx, "keys-revoke", func(_ context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
				id, err := findKey(v.State, c.Args[0])
				return &board.KeysRevoke{Key: id, Reason: reason}, nil, err
			})
			if err != nil {
				return err
			}
			return c.Report(done, nil)
		},
	}
})

// findKey finds a key by its fingerprint, the beginning of that, or its owner.
func findKey(s *board.State, word string) (string, error) {
	var found []string
	for _, id := range s.List(board.KeyDir) {
		k := s.Key(id)
		switch name := board.Fingerprint(id); {
		case k == nil:
		case name == word:
			return id, nil
		case k.Revoked == "" && (k.Principal == strings.ToLower(word) || strings.HasPrefix(name, word) && len(word) > len("SHA256:")):
			found = append(found, id)
		}
	}
	switch {
	case s.Err() != nil:
		return "", s.Err()
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return "", board.Refuse(board.CodeUnknownRecord, fmt.Sprintf("no key is called %q", text.Line(word, 80)), "git liza keys list")
	}
	var names []string
	for _, id := range found {
		names = append(names, board.Fingerprint(id))
	}
	return "", board.Refuse(board.CodeInvalid, fmt.Sprintf("%q is more than one key", text.Line(word, 80)), "name one of them: "+strings.Join(names, ", "))
}
