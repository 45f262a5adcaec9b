package gitboard

import (
	"context"
	"sync"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/sshsig"
)

// KeyOf returns an actor's signing key, or a *board.Refusal if it is not available. It is called
// only on a board that requires signatures.
type KeyOf func(ctx context.Context, a board.Actor) (*sshsig.Signer, error)

// keyring caches the keys that were asked for.
type keyring struct {
	of    KeyOf
	mu    sync.Mutex
	known map[board.Actor]*sshsig.Signer
}

// sign returns the key for an operation, or nil if it needs no key. It refuses a key that may not
// sign the operation.
func (k *keyring) sign(ctx context.Context, p *log.Prepared, a board.Actor) (*sshsig.Signer, error) {
	if !p.MustSign() {
		return nil, p.CheckKey(nil)
	}
	key, err := k.get(ctx, a)
	if err != nil {
		return nil, err
	}
	return key, p.CheckKey(key)
}

func (k *keyring) get(ctx context.Context, a board.Actor) (*sshsig.Signer, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if key := k.known[a]; key != nil || k.of == nil {
		return key, nil
	}
	key, err := k.of(ctx, a)
	if err != nil {
		return nil, err
	}
	if k.known == nil {
		k.known = map[board.Actor]*sshsig.Signer{}
	}
	k.known[a] = key
	return key, nil
}
