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
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/sshsig"
	"github.com/git-liza/git-liza/roles/supervisor"
)

// PrepareKey prepares the key with which a supervisor of this command and its agent sign, and
// returns its file, "" if operations are unsigned: the key named by LIZA_SIGNING_KEY if it is the
// agent's on the board, otherwise one that is created for this session and put on the board by the
// human who starts the supervisor.
func PrepareKey(ctx context.Context, c *call.Call, id string) (file string, err error) {
	c.Minting.Lock()
	defer c.Minting.Unlock()
	v, err := c.Board.View(ctx)
	if err != nil || !board.RequiresSignatures(v.State) {
		return "", err
	}
	own := false
	given := c.App.Getenv("LIZA_SIGNING_KEY")
	if given != "" {
		s, err := LoadKey(ctx, c, given)
		if err != nil {
			return "", err
		}
		known := v.State.Key(board.KeyID(s.Public()))
		own = known != nil && known.Principal == id
	}
	if own {
		file, err = KeyFromAnywhere(c, given)
	} else {
		file, err = mint(ctx, c, id)
	}
	if err == nil {
		c.SessionKeys.Store(id, file)
	}
	return file, err
}

// mint creates a key and puts it on the board in place of the agent's earlier ones.
func mint(ctx context.Context, c *call.Call, id string) (string, error) {
	human, err := c.Human(ctx, "keys-add")
	if err != nil {
		return "", err
	}
	_, private, err := ed25519.GenerateKey(random(c))
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
	file, err := supervisor.KeepKey(c.Board, id, pem.EncodeToMemory(block))
	if err != nil {
		return "", err
	}
	_, err = c.Board.Do(ctx, gitboard.Request{Actor: human}, func(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		if !v.Takeable(ctx, id, 0) { // registered in another clone in the meantime
			return nil, nil, board.Refusef(board.CodeLease, "%s is registered and alive: its key stays", id).Way(board.ActOn("status"))
		}
		return &board.KeysAdd{Principal: id, Public: public, Replaces: true}, nil, nil
	})
	var refused *board.Refusal
	if errors.As(err, &refused) && refused.Code == board.CodeSignature {
		refused.Message = "a key for " + id + " is added by the human who starts it: " + refused.Message
		refused.Advise("git config liza.signingkey FILE; or git liza keys add %s FILE.pub by who can, then LIZA_SIGNING_KEY=FILE here", id)
	}
	return file, err
}
