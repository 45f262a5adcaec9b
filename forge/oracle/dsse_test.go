package oracle

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"golang.org/x/crypto/ssh"

	"github.com/git-liza/git-liza/gitboard/receipt"
	"github.com/git-liza/git-liza/gitboard/sshsig"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// verifier verifies SSHSIG over the pre-authentication encoding that the library makes.
type verifier struct{ public string }

func (v verifier) Verify(_ context.Context, data, sig []byte) error {
	_, err := sshsig.VerifyFor(sshsig.InToto, data, string(sig))
	return err
}
func (v verifier) KeyID() (string, error)   { return "", nil }
func (v verifier) Public() crypto.PublicKey { return nil }

// TestDSSE has an envelope of ours verified by a library, which finds a changed payload.
func TestDSSE(t *testing.T) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	testrun.Check(t, err)
	with := testrun.Must(ssh.NewSignerFromKey(key))(t)
	signer := testrun.Must(sshsig.NewSigner(with, rand.Reader))(t)
	statement := []byte(`{"_type":"https://in-toto.io/Statement/v1"}`)
	sealed := testrun.Must(receipt.Seal(statement, signer))(t)
	var e dsse.Envelope
	if err := json.Unmarshal(sealed, &e); err != nil || e.PayloadType != "application/vnd.in-toto+json" {
		t.Fatalf("%v: %s", err, sealed)
	}
	by := testrun.Must(dsse.NewEnvelopeVerifier(verifier{}))(t)
	if keys, err := by.Verify(t.Context(), &e); err != nil || len(keys) != 1 {
		t.Errorf("%v, %v", keys, err)
	}
	if payload, err := e.DecodeB64Payload(); err != nil || string(payload) != string(statement) {
		t.Errorf("%s, %v", payload, err)
	}
	e.Payload = "e30="
	if _, err := by.Verify(t.Context(), &e); err == nil {
		t.Error("another payload is verified")
	}
}
