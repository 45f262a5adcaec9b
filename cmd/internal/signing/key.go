package signing

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/sshsig"
	"github.com/git-liza/git-liza/gitboard/text"
)

// KeyOf finds the actor's key: the one that PrepareKey prepared for an agent, LIZA_SIGNING_KEY for
// anybody, git's settings for a human.
func KeyOf(ctx context.Context, c *call.Call, a board.Actor) (*sshsig.Signer, error) {
	if c.Signer != nil {
		return c.Signer, nil
	}
	if file, supervised := c.SessionKeys.Load(a.ID); supervised {
		return LoadKey(ctx, c, file.(string))
	}
	where, err := signingKeySetting(ctx, c, a.Role == roles.Human)
	if err != nil {
		return nil, err
	}
	if where != "" {
		return LoadKey(ctx, c, where)
	}
	if a.Role == roles.Human {
		return nil, board.Refuse(board.CodeSignature, "this needs a signature, and no key is set for you",
			"git config liza.signingkey FILE; the keys that may sign: git liza keys list")
	}
	return nil, board.Refuse(board.CodeSignature, "this needs a signature, and no key is set for "+a.ID,
		"set LIZA_SIGNING_KEY to the file of its private key; a human adds the public one: git liza keys add "+a.ID+" FILE.pub")
}

// signingKeySetting is the key's place in the settings, "" for none.
func signingKeySetting(ctx context.Context, c *call.Call, human bool) (string, error) {
	if where := c.App.Getenv("LIZA_SIGNING_KEY"); where != "" || !human {
		return where, nil
	}
	b := c.Board
	if where, _, err := b.Repo().Settings().Get(ctx, "liza.signingkey"); where != "" || err != nil {
		return where, err
	}
	if format, _, err := b.Repo().Settings().Get(ctx, "gpg.format"); format != "ssh" || err != nil {
		return "", err
	}
	where, _, err := b.Repo().Settings().Get(ctx, "user.signingkey")
	return where, err
}

// LoadKey loads a key as git names one: the file of a private key, or a public key (a file, or the
// key itself after "key::") whose private key is next to it or held by the ssh-agent.
func LoadKey(ctx context.Context, c *call.Call, where string) (*sshsig.Signer, error) {
	if public, is := keyItself(where); is {
		return agentKey(ctx, c, public, where)
	}
	file := KeyFile(c, where)
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, unusable(where, ReasonOf(err), "")
	}
	if public, err := sshsig.ParsePublic(string(data)); err == nil {
		if private, is := strings.CutSuffix(file, ".pub"); is {
			if data, err := os.ReadFile(private); err == nil {
				return privateKey(ctx, c, data, public, private)
			}
		}
		return agentKey(ctx, c, public, where)
	}
	return privateKey(ctx, c, data, "", where)
}

// keyItself is the public key in a setting that is not a file name.
func keyItself(where string) (public string, is bool) {
	public, is = strings.CutPrefix(where, "key::")
	return public, is || strings.HasPrefix(where, "ssh-")
}

// KeyFromAnywhere is the same setting in a form that is valid in any directory.
func KeyFromAnywhere(c *call.Call, where string) (string, error) {
	if _, is := keyItself(where); is {
		return where, nil
	}
	return filepath.Abs(KeyFile(c, where))
}

// KeyFile is the path of a file named in settings.
func KeyFile(c *call.Call, where string) string {
	if rest, home := strings.CutPrefix(where, "~/"); home {
		return filepath.Join(c.App.Getenv("HOME"), rest)
	}
	if !filepath.IsAbs(where) {
		return filepath.Join(c.Directory(), where)
	}
	return where
}

// privateKey reads a private key. One with a passphrase is taken from the ssh-agent. One that
// others can read is refused, as by ssh-keygen: other users of this machine may be agents in clones
// of their own.
func privateKey(ctx context.Context, c *call.Call, data []byte, public, where string) (*sshsig.Signer, error) {
	if info, err := os.Stat(KeyFile(c, where)); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, unusable(where, fmt.Sprintf("its mode is %04o, so that others can read it", info.Mode().Perm()), "chmod 600 "+where)
	}
	key, err := ssh.ParsePrivateKey(data)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		if public == "" && locked.PublicKey != nil {
			public = strings.TrimSpace(string(ssh.MarshalAuthorizedKey(locked.PublicKey)))
		}
		s, err := agentKey(ctx, c, public, where)
		if err != nil {
			return nil, unusable(where, "it has a passphrase, and no ssh-agent holds it", "ssh-add "+where)
		}
		return s, nil
	}
	if err != nil {
		return nil, unusable(where, "it is not a private key of OpenSSH", "")
	}
	s, err := sshsig.NewSigner(key, random(c))
	if err != nil {
		return nil, unusable(where, err.Error(), "")
	}
	return s, nil
}

// agentKey finds a key that the ssh-agent holds.
func agentKey(ctx context.Context, c *call.Call, public, where string) (*sshsig.Signer, error) {
	public, err := sshsig.ParsePublic(public)
	if err != nil {
		return nil, unusable(where, err.Error(), "")
	}
	missing := unusable(where, "no ssh-agent holds its private key", "ssh-add FILE of the private key")
	socket := c.App.Getenv("SSH_AUTH_SOCK")
	if socket == "" {
		return nil, missing
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, missing
	}
	c.OnClose = append(c.OnClose, conn)
	context.AfterFunc(ctx, func() { conn.Close() }) // an ssh-agent may wait for a person for ever
	held, err := agent.NewClient(conn).Signers()
	if err != nil {
		return nil, missing
	}
	for _, key := range held {
		if s, err := sshsig.NewSigner(key, random(c)); err == nil && s.Public() == public {
			return s, nil
		}
	}
	return nil, missing
}

// random is the system's randomness, unless a test replaces it.
func random(c *call.Call) io.Reader {
	if c.App.Random != nil {
		return c.App.Random
	}
	return rand.Reader
}

func unusable(where, why, hint string) *board.Refusal {
	if hint == "" {
		hint = "git config liza.signingkey FILE, or LIZA_SIGNING_KEY: a key made by ssh-keygen -t ed25519"
	}
	return board.Refuse(board.CodeSignature, fmt.Sprintf("the key %q can't sign: %s", text.Line(where, 200), why), hint)
}

func ReasonOf(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}
