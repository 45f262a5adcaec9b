package cli

import (
	"context"
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/sshsig"
	"github.com/git-liza/git-liza/roles/supervisor"
)

// sessionKey is the key with which a supervisor signs for its agent, and the agent itself: the one that
// LIZA_SIGNING_KEY names, where it is the agent's on the board, else one that is made for this session and that the
// human who starts the supervisor puts on the board.
type sessionKey struct {
	c    *call
	file string
}

// of is the supervisor's gitboard.KeyOf.
func (k *sessionKey) of(ctx context.Context, a board.Actor) (*sshsig.Signer, error) {
	k.c.minting.Lock()
	defer k.c.minting.Unlock()
	if k.file == "" {
		return k.c.signingKey(ctx, a)
	}
	return k.c.loadKey(k.file)
}

// prepare is a supervisor's Key.
func (k *sessionKey) prepare(ctx context.Context, id string) (string, error) {
	k.c.minting.Lock()
	defer k.c.minting.Unlock()
	v, err := k.c.opened.View(ctx)
	if err != nil || !board.RequiresSignatures(v.State) {
		return "", err
	}
	if given := k.c.app.Getenv("LIZA_SIGNING_KEY"); given != "" {
		s, err := k.c.loadKey(given)
		if err != nil {
			return "", err
		}
		if known := v.State.Key(board.KeyID(s.Public())); known != nil && known.Principal == id {
			k.file, err = k.c.keyFromAnywhere(given)
			return k.file, err
		}
	}
	k.file, err = k.mint(ctx, id)
	return k.file, err
}

// mint makes a key and puts it on the board in place of the agent's earlier ones.
func (k *sessionKey) mint(ctx context.Context, id string) (string, error) {
	human, err := k.c.human(k.c.opened, "keys-add")
	if err != nil {
		return "", err
	}
	_, private, err := ed25519.GenerateKey(k.c.random())
	if err != nil {
		return "", fmt.Errorf("no randomness: %w", err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return "", err
	}
	public, err := sshsig.ParsePublic(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
	if err != nil {
		return "", err
	}
	block, err := ssh.MarshalPrivateKey(private, id)
	if err != nil {
		return "", err
	}
	file, err := supervisor.KeepKey(k.c.opened, id, pem.EncodeToMemory(block))
	if err != nil {
		return "", err
	}
	_, err = k.c.opened.Do(ctx, gitboard.Request{Actor: human, Intent: gitboard.Just(&board.KeysAdd{Principal: id, Public: public, Replaces: true})})
	var refused *board.Refusal
	if errors.As(err, &refused) && refused.Code == "signature" {
		refused.Message = "a key for " + id + " is added by the human who starts it: " + refused.Message
		refused.Hint = fmt.Sprintf("git config liza.signingkey FILE; or git liza keys add %s FILE.pub by who can, then LIZA_SIGNING_KEY=FILE here", id)
	}
	return file, err
}
