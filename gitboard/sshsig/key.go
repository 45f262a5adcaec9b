package sshsig

import (
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/crypto/ssh"
)

// leastRSA is how many bits an RSA key has at least.
const leastRSA = 2048

// ParsePublic reads a public key as ssh-keygen writes it into a .pub file and returns its type and
// its key, without the comment. Keys of unsupported kinds (DSA, short RSA, certificates) are
// refused.
func ParsePublic(line string) (public string, err error) {
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(line))
	switch {
	case err != nil:
		return "", errors.New("it is not a public key in the form that ssh-keygen writes")
	case len(options) > 0 || strings.TrimSpace(string(rest)) != "":
		return "", errors.New("it is more than one public key")
	}
	return text(key)
}

func text(key ssh.PublicKey) (string, error) {
	switch key.Type() {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521:
	case ssh.KeyAlgoRSA:
		c := key.(ssh.CryptoPublicKey) // ParsePublic and Verify have parsed it
		if k, is := c.CryptoPublicKey().(*rsa.PublicKey); !is || k.N.BitLen() < leastRSA {
			return "", fmt.Errorf("an RSA key needs %d bits", leastRSA)
		}
	default:
		return "", fmt.Errorf("keys of the type %s don't sign here: use ed25519, ecdsa or rsa", key.Type())
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))), nil
}

// Signer signs with a private key, its own or an agent's.
type Signer struct {
	key    ssh.Signer
	public string
	random io.Reader
}

// NewSigner makes a signer of a key.
func NewSigner(key ssh.Signer, random io.Reader) (*Signer, error) {
	public, err := ParsePublic(string(ssh.MarshalAuthorizedKey(key.PublicKey()))) // an agent's keys know less than others
	if err != nil {
		return nil, err
	}
	return &Signer{key, public, random}, nil
}

// Public is the public key, as ParsePublic returns it.
func (s *Signer) Public() string { return s.public }

// Sign returns an armoured signature of a payload.
func (s *Signer) Sign(payload []byte) (string, error) { return s.SignFor(namespace, payload) }

// SignFor is Sign in another namespace.
func (s *Signer) SignFor(namespace string, payload []byte) (string, error) {
	made, err := s.sign(toSign(namespace, payload))
	if err != nil {
		return "", err
	}
	return envelope{magic, version, s.key.PublicKey().Marshal(), namespace, "", hashName, ssh.Marshal(made)}.armour(), nil
}

func (s *Signer) sign(data []byte) (*ssh.Signature, error) {
	if s.key.PublicKey().Type() != ssh.KeyAlgoRSA {
		return s.key.Sign(s.random, data)
	}
	by, able := s.key.(ssh.AlgorithmSigner)
	if !able {
		return nil, errors.New("this RSA key signs with SHA-1 alone")
	}
	return by.SignWithAlgorithm(s.random, data, ssh.KeyAlgoRSASHA512)
}
