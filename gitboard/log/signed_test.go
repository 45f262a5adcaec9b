package log_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/sshsig"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func keyNamed(t testing.TB, name string) *sshsig.Signer {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	key := testrun.Must(ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(seed[:])))(t)
	return testrun.Must(sshsig.NewSigner(key, nil))(t)
}

// TestSigned checks that a commit is signed with an accepted key if the board requires it, and that
// a key is not used otherwise.
func TestSigned(t *testing.T) {
	s := testrepo.NewMemory()
	w := newWriter(t, s).init()
	key, other := keyNamed(t, "ada"), keyNamed(t, "eve")
	do := func(p board.Payload, key *sshsig.Signer) error {
		t.Helper()
		prepared := w.prepare(w.tip(), p)
		signed := by
		signed.Key = key
		built, err := prepared.Build(signed)
		if may := prepared.CheckKey(key); prepared.MustSign() && (err == nil) != (may == nil) {
			t.Errorf("built: %v, checked: %v", err, may)
		}
		if err == nil {
			w.must(built)
		}
		return err
	}
	check(t, do(note("one"), other))
	if w.tip().Head.GPGSig != "" {
		t.Error("signed though nobody asked for it")
	}
	check(t, do(&board.KeysAdd{Principal: ada.Email, Public: key.Public()}, nil))
	check(t, do(&board.SetConfig{Key: "require_signatures", Value: "true"}, key))
	check(t, do(note("two"), key))
	last := w.tip()
	if public, err := log.SignedBy(last.Head); err != nil || public != key.Public() {
		t.Errorf("signed by %q: %v", public, err)
	}
	check(t, w.log.Replays(w.ctx, last.Commit))
	for name, key := range map[string]*sshsig.Signer{"no key": nil, "a stranger's": other} {
		var refused *board.Refusal
		if err := do(note("three"), key); !errors.As(err, &refused) || refused.Code != board.CodeSignature {
			t.Errorf("%s: %v", name, err)
		}
	}
	if w.tip().Commit != last.Commit {
		t.Error("what may not be signed is written")
	}
	for name, forge := range map[string]func(c *plumbing.Commit){
		"bears none":         func(c *plumbing.Commit) { c.GPGSig = "" },
		"not a signature of": func(c *plumbing.Commit) { c.Committer.Name = "Eve" },
		"the signature":      func(c *plumbing.Commit) { c.GPGSig = strings.Replace(c.GPGSig, "SIGNATURE", "SIGNED", 1) },
	} {
		c := last.Head
		forge(&c)
		o := plumbing.NewObject("commit", plumbing.EncodeCommit(c))
		check(t, s.WriteObjects(w.ctx, []plumbing.Object{o}))
		if err := w.log.Replays(w.ctx, o.OID); !errors.As(err, new(*log.RecordError)) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
