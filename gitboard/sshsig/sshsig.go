package sshsig

import (
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

const (
	begin = "-----BEGIN SSH SIGNATURE-----\n"
	end   = "-----END SSH SIGNATURE-----\n"
	width = 70 // of a line, as ssh-keygen has it

	version  = 1
	hashName = "sha512"

	maxArmor = 16 << 10 // bytes; one of RSA with 8192 bits has 3 KiB
)

// The namespaces of signatures: a signature for one use is void for the other.
const (
	namespace = "git"
	InToto    = "in-toto" // of attestations
)

var magic = [6]byte{'S', 'S', 'H', 'S', 'I', 'G'}

// envelope is a signature with its key and parameters.
type envelope struct {
	Magic     [6]byte
	Version   uint32
	PublicKey []byte
	Namespace string
	Reserved  string
	Hash      string
	Signature []byte
}

// signed is the content that a key signs.
type signed struct {
	Magic     [6]byte
	Namespace string
	Reserved  string
	Hash      string
	Digest    []byte
}

func toSign(namespace string, payload []byte) []byte {
	digest := sha512.Sum512(payload)
	return ssh.Marshal(signed{magic, namespace, "", hashName, digest[:]})
}

// Verify checks an armoured signature of a payload and returns the public key that made it, as
// ParsePublic does. It takes one form of each signature, that of ssh-keygen, and no signature of
// RSA with SHA-1.
func Verify(payload []byte, armoured string) (public string, err error) {
	return VerifyFor(namespace, payload, armoured)
}

// VerifyFor is Verify for a signature of another namespace.
func VerifyFor(namespace string, payload []byte, armoured string) (public string, err error) {
	e, err := parse(namespace, armoured)
	if err != nil {
		return "", err
	}
	key, err := ssh.ParsePublicKey(e.PublicKey)
	if err != nil {
		return "", fmt.Errorf("its key can't be read: %w", err)
	}
	if public, err = text(key); err != nil {
		return "", err
	}
	if string(key.Marshal()) != string(e.PublicKey) {
		return "", errors.New("its key is not in the usual form")
	}
	var s ssh.Signature
	if err := ssh.Unmarshal(e.Signature, &s); err != nil {
		return "", fmt.Errorf("it can't be read: %w", err)
	}
	if s.Format != key.Type() && !isRSA2(key, s.Format) || s.Format == ssh.KeyAlgoRSA {
		return "", fmt.Errorf("it is made by %q, which is not accepted of a key of the type %s", s.Format, key.Type())
	}
	if len(s.Rest) > 0 {
		return "", errors.New("there is text after its end")
	}
	if err := key.Verify(toSign(namespace, payload), &s); err != nil {
		return "", errors.New("it is not a signature of this content")
	}
	return public, nil
}

func isRSA2(key ssh.PublicKey, format string) bool {
	return key.Type() == ssh.KeyAlgoRSA && (format == ssh.KeyAlgoRSASHA512 || format == ssh.KeyAlgoRSASHA256)
}

// parse reads an armoured signature.
func parse(namespace, armoured string) (e envelope, err error) {
	if len(armoured) > maxArmor {
		return e, fmt.Errorf("it has %d bytes; %d are allowed", len(armoured), maxArmor)
	}
	body, opens := strings.CutPrefix(armoured, begin)
	body, closes := strings.CutSuffix(body, end)
	if !opens || !closes {
		return e, errors.New("it is not an SSH signature")
	}
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(body, "\n", ""))
	if err != nil {
		return e, fmt.Errorf("it can't be read: %w", err)
	}
	if err := ssh.Unmarshal(data, &e); err != nil {
		return e, fmt.Errorf("it can't be read: %w", err)
	}
	switch {
	case e.Magic != magic || e.Version != version:
		return e, errors.New("it is not an SSH signature of version 1")
	case e.Namespace != namespace:
		return e, fmt.Errorf("it was made for %.40q, not for %s", e.Namespace, namespace)
	case e.Reserved != "" || e.Hash != hashName:
		return e, fmt.Errorf("it is made with %.40q, not with %s", e.Hash, hashName)
	case e.armour() != armoured:
		return e, errors.New("it is not in the usual form")
	}
	return e, nil
}

func (e envelope) armour() string {
	text := base64.StdEncoding.EncodeToString(ssh.Marshal(e))
	var b strings.Builder
	b.WriteString(begin)
	for len(text) > width {
		b.WriteString(text[:width] + "\n")
		text = text[width:]
	}
	b.WriteString(text + "\n" + end)
	return b.String()
}
