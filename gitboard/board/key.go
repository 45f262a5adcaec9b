package board

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Key is a record of keys/: a public key and who signs with it. It belongs to one principal for
// ever. A revoked key stays on the board, so that its earlier signatures can still be verified.
type Key struct {
	Principal string `yaml:"principal"` // an agent's id, a human's e-mail address in lower case, or runner/NAME
	Public    string `yaml:"public"`    // type and key as in a .pub file, without the comment
	Added     Time   `yaml:"added"`
	Revoked   Time   `yaml:"revoked,omitempty"`
	Reason    string `yaml:"reason,omitempty"` // of the revocation
	Extra     any    `yaml:"extra,omitempty"`
}

var (
	keyID   = formOf(`^[A-Za-z0-9_-]{43}$`)
	runner  = shortForm(70, `^runner/[a-z0-9][a-z0-9.-]*$`)
	address = formOf(`^[^\s,*?!"#<>@[:cntrl:]]{1,128}@[^\s,*?!"#<>@[:cntrl:]]{1,128}$`)
)

// KeyTypes are the types of keys that can sign.
var KeyTypes = []string{"ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"}

// KeyID names a public key by its SHA-256, in characters that are safe in file names. It returns ""
// for a text that is not a public key in its usual form.
func KeyID(public string) string {
	kind, text, _ := strings.Cut(public, " ")
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(public) > 4096 || base64.StdEncoding.EncodeToString(data) != text || len(data) < 4 || !slices.Contains(KeyTypes, kind) {
		return ""
	}
	if n := binary.BigEndian.Uint32(data); uint64(n) != uint64(len(kind)) || !strings.HasPrefix(string(data[4:]), kind) {
		return ""
	}
	sum := sha256.Sum256(data)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

var fingerprints = strings.NewReplacer("-", "+", "_", "/")

// Fingerprint is a key's fingerprint as ssh-keygen -l prints it.
func Fingerprint(id string) string { return "SHA256:" + fingerprints.Replace(id) }

// Kind is the key's type.
func (k *Key) Kind() string { return k.Public[:max(0, strings.IndexByte(k.Public, ' '))] }

// Runner reports whether the key is that of a machine that repeats tests. It signs statements about
// commits, and no operation: no actor has such a name.
func (k *Key) Runner() bool { return runner.MatchString(k.Principal) }

// Agents reports whether the key is an agent's or a runner's, not a human's.
func (k *Key) Agents() bool { return !strings.Contains(k.Principal, "@") }

// principalOf returns the principal of an actor's keys.
func principalOf(a Actor) string {
	if a.Role == roles.Human {
		return strings.ToLower(a.Email)
	}
	return a.ID
}

// principal refuses a name that is neither an agent's nor a human's nor a runner's.
func principal(name string) error {
	if roles.IsID(name) || runner.MatchString(name) {
		return nil
	}
	if !strings.Contains(name, "@") {
		return invalid("%s is neither an agent's id nor an e-mail address: a human is known by the address that git has", quote(name)).Advise("coder-1, or ada@example.org: git config user.email")
	}
	if !address.MatchString(name) || !text.IsAddress(name) || strings.ToLower(name) != name || AgentAddress(name) {
		return invalid("%s is not an e-mail address of a human, in lower case", quote(name))
	}
	return nil
}

// Key returns the record of a public key by its id, nil if it is not on the board.
func (s *State) Key(id string) *Key {
	if !keyID.MatchString(id) {
		return nil
	}
	return get[Key](s, RecordPath(KeyDir, id))
}

// hasKeys reports whether a key was ever added.
func (s *State) hasKeys() bool {
	last, _ := s.LastID(KeyDir)
	return last != ""
}

// humansKey reports whether a human has a key that is not revoked, apart from the one with id but.
func (s *State) humansKey(but string) bool {
	return slices.ContainsFunc(s.List(KeyDir), func(id string) bool {
		k := s.Key(id)
		return id != but && k != nil && k.Revoked == "" && !k.Agents()
	})
}
