package signing

import (
	"context"
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/sshsig"
	"github.com/git-liza/git-liza/roles/supervisor"
)

// SessionKey is the key with which a supervisor and its agent sign: the one named by
// LIZA_SIGNING_KEY if it is the agent's on the board, otherwise one that is created for this
// session and put on the board by the human who starts the supervisor.
type SessionKey struct {
	C    *call.Call
	file string
}

// Of is the supervisor's gitboard.KeyOf.
func (k *SessionKey) Of(ctx context.Context, a board.Actor) (*sshsig.Signer, error) {
	k.C.Minting.Lock()
	defer k.C.Minting.Unlock()
	if k.file == "" {
		return KeyOf(ctx, k.C, a)
	}
	return LoadKey(ctx, k.C, k.file)
}

// Prepare is the supervisor's Config.Key.
func (k *SessionKey) Prepare(ctx context.Context, id string) (string, error) {
	k.C.Minting.Lock()
	defer k.C.Minting.Unlock()
	v, err := k.C.Board.View(ctx)
	if err != nil || !board.RequiresSignatures(v.State) {
		return "", err
	}
	if given := k.C.App.Getenv("LIZA_SIGNING_KEY"); given != "" {
		s, err := LoadKey(ctx, k.C, given)
		if err != nil {
			return "", err
		}
		if known := v.State.Key(board.KeyID(s.Public())); known != nil && known.Principal == id {
			k.file, err = KeyFromAnywhere(k.C, given)
			return k.file, err
		}
	}
	k.file, err = k.mint(ctx, id)
	return k.file, err
}

// mint creates a key and puts it on the board in place of the agent's earlier ones.
func (k *SessionKey) mint(ctx context.Context, id string) (string, error) {
	human, err := k.C.Human(ctx, "keys-add")
	if err != nil {
		return "", err
	}
	_, private, err := ed25519.GenerateKey(random(k.C))
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
	file, err := supervisor.KeepKey(k.C.Board, id, pem.EncodeToMemory(block))
	if err != nil {
		return "", err
	}
	_, err = k.C.Board.Do(ctx, gitboard.Request{Actor: human}, gitboard.Just(&board.KeysAdd{Principal: id, Public: public, Replaces: true}))
	var refused *board.Refusal
	if errors.As(err, &refused) && refused.Code == board.CodeSignature {
		refused.Message = "a key for " + id + " is added by the human who starts it: " + refused.Message
		refused.Advise("git config liza.signingkey FILE; or git liza keys add %s FILE.pub by who can, then LIZA_SIGNING_KEY=FILE here", id)
	}
	return file, err
}
