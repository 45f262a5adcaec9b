package receipt

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/sshsig"
)

// payloadType is the type of an in-toto statement in an envelope.
const payloadType = "application/vnd.in-toto+json"

// envelope is a signed statement (DSSE 1.0).
type envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"` // base64
	Signatures  []signature `json:"signatures"`
}

// signature is an armoured SSHSIG over the pre-authentication encoding, in base64.
type signature struct {
	KeyID string `json:"keyid"` // the key's fingerprint, as ssh-keygen -l prints it
	Sig   string `json:"sig"`
}

// authenticated is the pre-authentication encoding of a payload.
func authenticated(payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
}

// Seal signs a statement. The same statement and an Ed25519 or RSA key give the same bytes.
func Seal(statement []byte, by *sshsig.Signer) ([]byte, error) {
	made, err := by.SignFor(sshsig.InToto, authenticated(statement))
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(envelope{payloadType, base64.StdEncoding.EncodeToString(statement), []signature{
		{board.Fingerprint(board.KeyID(by.Public())), base64.StdEncoding.EncodeToString([]byte(made))},
	}})
	if err != nil {
		return nil, err
	}
	return canonical(data)
}

// maxEnvelope is the greatest size of a stored envelope, in bytes.
const maxEnvelope = 4 << 20

// Open checks an envelope's signature and returns its statement and the public key that signed it.
// The board decides whether that key counts.
func Open(data []byte) (statement []byte, public string, err error) {
	if len(data) > maxEnvelope {
		return nil, "", fmt.Errorf("it has more than %d bytes", maxEnvelope)
	}
	var e envelope
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, "", fmt.Errorf("it is not an envelope: %w", err)
	}
	if e.PayloadType != payloadType || len(e.Signatures) != 1 {
		return nil, "", errors.New("it is not a statement with one signature")
	}
	if statement, err = base64.StdEncoding.DecodeString(e.Payload); err != nil {
		return nil, "", fmt.Errorf("its payload can't be read: %w", err)
	}
	armoured, err := base64.StdEncoding.DecodeString(e.Signatures[0].Sig)
	if err != nil {
		return nil, "", fmt.Errorf("its signature can't be read: %w", err)
	}
	public, err = sshsig.VerifyFor(sshsig.InToto, authenticated(statement), string(armoured))
	return statement, public, err
}

// SHA256 is the digest by which a stored envelope is named.
func SHA256(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
