package board

import (
	"fmt"
	"slices"
)

// Attest records a signed statement about a commit, which is in refs/liza/attestations. A statement
// by a key that is revoked later counts if it was recorded before.
type Attest struct {
	SHA256 string `json:"sha256"` // of the stored envelope
	Commit string `json:"commit"`
	Type   string `json:"type"` // of Attestations
}

// Attestations are the types of statements.
var Attestations = []string{"provenance", "test-result"}

var sha256Form = shortForm(64, `^[0-9a-f]{64}$`)

// Op implements Payload.
func (p *Attest) Op() string { return "attest" }

// Check implements Payload.
func (p *Attest) Check(*State, Operation) error {
	switch {
	case !sha256Form.MatchString(p.SHA256):
		return invalid("sha256 must be 64 hex digits, not %s", quote(p.SHA256))
	case !slices.Contains(Attestations, p.Type):
		return invalid("%s is not a type of statement: use %s", quote(p.Type), list(Attestations))
	}
	return fullID("commit", p.Commit)
}

// Apply implements Payload. The operation is the record.
func (p *Attest) Apply(*State, Operation) {}

// Subject implements Payload.
func (p *Attest) Subject(_, _ *State, _ Operation) (string, string) {
	return fmt.Sprintf("%s of %.10s, %.10s", p.Type, p.Commit, p.SHA256), ""
}
